//! Single operations by which the state of a lock and of its resource is known.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use super::cycles::Cycles;
use super::horizon::Horizon;
use crate::case::Case;
use crate::history::Nanos;
use crate::operation::{Access, Action, KeyId, OpId, Operation, Outcome, OwnerId};

/// Where tokens are compared: a lock, or what is used under it.
type Place = (KeyId, Option<Option<u32>>);

/// The largest token, and which operations show it.
#[derive(Clone, Copy)]
struct Largest {
    token: u64,
    first: OpId,
    last: OpId,
}

/// Keeps the cycles that show the largest token of each lock and of each resource, which later ones
/// are compared with: the first and the last.
pub(super) fn tokens(case: &Case, cycles: &mut Cycles) {
    let mut largest: HashMap<Place, Largest> = HashMap::new();
    for (id, operation) in operations(case) {
        let resource = match operation.action {
            Action::Acquire => None,
            Action::Resource(_) => Some(resource(case, operation)),
            Action::Renew | Action::Release | Action::Other => continue,
        };
        if let (Some(token), Outcome::Ok) = (operation.token, operation.outcome) {
            let place = (operation.key, resource);
            let new = Largest {
                token,
                first: id,
                last: id,
            };
            let largest = largest.entry(place).or_insert(new);
            match token.cmp(&largest.token) {
                Ordering::Less => {}
                Ordering::Equal => largest.last = id,
                Ordering::Greater => *largest = new,
            }
        }
    }
    for shown in largest.into_values() {
        cycles.keep(shown.first);
        cycles.keep(shown.last);
    }
}

/// Keeps the last grant of each lock to somebody whom the history does not name.
pub(super) fn nobody(case: &Case, cycles: &mut Cycles) {
    let mut last: HashMap<KeyId, OpId> = HashMap::new();
    for (id, operation) in operations(case) {
        if operation.is_grant() && !operation.is_named {
            last.insert(operation.key, id);
        }
    }
    for id in last.into_values() {
        cycles.keep(id);
    }
}

/// Keeps the cycles of the writes that a later read may show, and says which operations to keep
/// alone: each append, the first and the last read, and the last use of each resource under each
/// lock.
pub(super) fn resources(case: &Case, horizons: &[Horizon], cycles: &mut Cycles) -> Vec<OpId> {
    let mut alone = Vec::new();
    let mut last: HashMap<(KeyId, Option<u32>), OpId> = HashMap::new();
    let mut replaced: HashMap<(KeyId, Option<u32>), Nanos> = HashMap::new();
    let mut reads: HashMap<(KeyId, Option<u32>), (OpId, OpId)> = HashMap::new();
    let mut writes = Vec::new();
    for (id, operation) in operations(case) {
        let Action::Resource(access) = operation.action else {
            continue;
        };
        let place = (operation.key, resource(case, operation));
        last.insert(place, id);
        match (access, operation.outcome) {
            (Access::Read, Outcome::Ok) => {
                let (_, last) = reads.entry(place).or_insert((id, id));
                *last = id;
                continue;
            }
            (Access::Append, Outcome::Ok | Outcome::Unknown) => alone.push(id),
            (Access::Write | Access::Cas, Outcome::Ok) => writes.push((place, id)),
            (Access::Read | Access::Write | Access::Cas | Access::Append, _) => continue,
        }
        let settled = horizons[operation.key.0 as usize].begun;
        if operation.answered().is_some_and(|done| done < settled) {
            let sent = replaced.entry(place).or_default();
            *sent = (*sent).max(operation.invoked);
        }
    }
    for (place, id) in writes {
        let replaced = replaced.get(&place).copied().unwrap_or(Nanos(0));
        let done = case.digest.operation(id).answered();
        if done.is_none_or(|done| done >= replaced) {
            cycles.keep(id);
        }
    }
    alone.extend(last.into_values());
    alone.extend(reads.into_values().flat_map(|(first, last)| [first, last]));
    alone
}

/// The tries that left their owners a place in the queue of a fair lock, each with the grant that
/// made use of it, if there was one.
pub(super) fn places(case: &Case, in_flight: &HashSet<OpId>) -> Vec<(OpId, Option<OpId>)> {
    let notes = case.digest.queued.iter();
    let doorways: HashSet<OpId> = notes.filter_map(|note| note.acquire).collect();
    if doorways.is_empty() {
        return Vec::new();
    }
    let mut open: HashMap<(KeyId, OwnerId), OpId> = HashMap::new();
    let mut places = Vec::new();
    for (id, acquire) in operations(case).filter(|(_, one)| one.action == Action::Acquire) {
        let owner = (acquire.key, acquire.owner);
        if acquire.is_grant() {
            places.extend(open.remove(&owner).map(|place| (place, Some(id))));
        } else if doorways.contains(&id) && !in_flight.contains(&id) {
            open.insert(owner, id);
        }
    }
    places.extend(open.into_values().map(|place| (place, None)));
    places
}

fn operations<'a>(case: &Case<'a>) -> impl Iterator<Item = (OpId, &'a Operation)> + use<'a> {
    OpId::each(&case.digest.operations)
}

fn resource(case: &Case, operation: &Operation) -> Option<u32> {
    case.digest.detail(operation)?.resource
}
