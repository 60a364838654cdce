//! Why an operation is carried on.

use std::collections::HashSet;

use super::cycles::Cycles;
use super::horizon::{Horizon, ended, horizons, is_abandoned, is_open};
use super::{marks, outage};
use crate::case::Case;
use crate::history::Nanos;
use crate::hold::Hold;
use crate::operation::{Access, Action, KeyId, OpId, Operation, Outcome, OwnerId};

/// What goes on.
pub(crate) struct Carried {
    /// The operations that may still matter, in order.
    pub(crate) kept: Vec<OpId>,
    /// Up to when each key is judged for good.
    pub(crate) judged: Vec<Nanos>,
}

/// What may still matter of a part; `in_flight` are the operations whose processes wait for an
/// answer.
pub(crate) fn carried(case: &Case, in_flight: &HashSet<OpId>) -> Carried {
    let digest = case.digest;
    let horizons = horizons(case, in_flight);
    let mut cycles = Cycles::new(case);
    let ids = || digest.ids();
    for id in ids() {
        let operation = digest.operation(id);
        let horizon = horizons[operation.key.0 as usize];
        let recent = ended(operation) >= horizon.begun && took_effect(operation);
        if recent || may_strike(operation) || in_flight.contains(&id) {
            cycles.keep(id);
        }
    }
    let mut alone: HashSet<OpId> = in_flight.clone();
    for group in case.keys() {
        let holds = &case.holds[group];
        let horizon = horizons[holds[0].key.0 as usize];
        keep_holds(case, holds, horizon, &mut cycles);
        alone.extend(outage::tries(case, holds[0].key, holds, horizon.begun));
    }
    for key in digest.all_keys() {
        if case
            .holds
            .binary_search_by_key(&key, |hold| hold.key)
            .is_err()
        {
            let begun = horizons[key.0 as usize].begun;
            alone.extend(outage::tries(case, key, &[], begun));
        }
    }
    marks::tokens(case, &mut cycles);
    marks::nobody(case, &mut cycles);
    alone.extend(marks::resources(case, &horizons, &mut cycles));
    let phantoms = phantoms(case);
    for &id in &alone {
        let operation = digest.operation(id);
        // Who uses the token of a grant that is not known seems to prove another acquire.
        let proves = phantoms.contains(&(operation.key, operation.owner));
        if operation.is_grant() || proves {
            cycles.keep(id);
        }
    }
    for (place, grant) in marks::places(case, in_flight) {
        if grant.is_none_or(|grant| cycles.keeps(grant)) {
            alone.insert(place);
        }
    }
    let kept = |id: &OpId| {
        let operation = digest.operation(*id);
        alone.contains(id)
            || ended(operation) >= horizons[operation.key.0 as usize].unanswered
            || cycles.keeps(*id) && took_effect(operation)
    };
    Carried {
        kept: ids().filter(kept).collect(),
        judged: horizons.iter().map(|horizon| horizon.begun).collect(),
    }
}

/// Who may have been granted which lock, without an answer.
fn phantoms(case: &Case) -> HashSet<(KeyId, OwnerId)> {
    let phantoms = case.holds.iter().filter(|hold| !hold.is_granted());
    phantoms.map(|hold| (hold.key, hold.owner)).collect()
}

/// A refusal changes nothing.
fn took_effect(operation: &Operation) -> bool {
    match (operation.action, operation.outcome) {
        (Action::Other, _) | (_, Outcome::Refused | Outcome::Failed) => false,
        (_, Outcome::Ok | Outcome::NotOwner | Outcome::Unknown) => true,
    }
}

/// What is indeterminate may take effect at any time. An acquire is known by its hold.
fn may_strike(operation: &Operation) -> bool {
    let changes = match operation.action {
        Action::Renew
        | Action::Release
        | Action::Resource(Access::Write | Access::Cas | Access::Append) => true,
        Action::Resource(Access::Read) | Action::Acquire | Action::Other => false,
    };
    changes && operation.outcome == Outcome::Unknown
}

/// Keeps the cycles of the holds of one key that may go on.
fn keep_holds(case: &Case, holds: &[Hold], horizon: Horizon, cycles: &mut Cycles) {
    for hold in holds {
        if is_over(case, cycles, hold, horizon) {
            continue;
        }
        // Without what took its place it would seem to go on.
        let taken = hold.anew.filter(|&id| {
            let anew = case.digest.operation(id);
            anew.mode != hold.mode || anew.is_vague
        });
        let marks = [Some(hold.acquire), hold.proof, hold.release, taken];
        for id in marks.into_iter().flatten() {
            cycles.keep(id);
        }
    }
    let abandoned = |hold: &&Hold| hold.is_granted() && is_open(hold) && is_abandoned(case, hold);
    for stale in holds.iter().filter(abandoned) {
        // Should the client come back, it acted as holder all the time, beside this one at least.
        let other = |hold: &&Hold| {
            let after = hold.is_granted() && hold.core.end > stale.lease.floor;
            after && hold.owner != stale.owner
        };
        if let Some(first) = holds.iter().find(other) {
            cycles.keep(first.acquire);
        }
    }
}

/// Whether the service can certainly not keep it any longer, and its client does not act as its
/// holder.
fn is_over(case: &Case, cycles: &Cycles, hold: &Hold, horizon: Horizon) -> bool {
    let answered = hold
        .release
        .map(|id| case.digest.operation(id))
        .filter(|release| release.outcome == Outcome::Ok);
    let is_gone = hold.hull.end < Nanos::MAX && !cycles.is_left(hold.acquire);
    let given_back = answered.is_some() && is_gone;
    let acts = hold.is_granted() && is_open(hold);
    let expired = hold.lease.ceiling < horizon.begun && !acts;
    given_back || expired
}
