//! Basis of a violation: the fewest events with which it is found as it is.
//!
//! For: the events that the contradiction of a story cites. With all others deleted the same
//! violation is found in the history, with the same claim; without any one of them it is not.
//! Each try judges an excerpt of the history from its beginning: nothing that was derived from the
//! whole is used. Not for: what explains a violation without being needed for it, such as faults
//! and refusals.

use std::collections::BTreeSet;

use super::derived::with_findings;
use crate::case::{Case, Finding, failure};
use crate::history::{FailureKind, Nanos};
use crate::operations::{Action, Digest, Item, OpId, OwnerId};
use crate::options::Options;
use crate::property::{Evidence, rule};
use crate::verdict::Property;

/// Number of events above which no excerpt is tried: each try judges them all.
const ITEMS_MAX: usize = 4_000;
/// Operations judged in all tries for one violation; some hundredths of a second at the
/// most.
const WORK_MAX: usize = 200_000;

/// The events that a finding rests on. Where it concerns too many, those are named that the rule
/// has looked at. The operations of a model are as few as its own search has made them: to delete
/// one is not to know nothing of it, and who gave the lock back is not accused of holding it.
pub(crate) fn basis(case: &Case, finding: &Finding) -> Vec<Item> {
    if finding.property == Property::Model {
        let operations = finding.operations.iter().copied();
        return operations.map(Item::Operation).collect();
    }
    let own = own(case, finding);
    let wanted = Likeness::of(case, finding);
    let alone = Options {
        only: Some([finding.property].into()),
        // A finding is known again by all that its witness would say.
        witnesses_max: ITEMS_MAX,
        threads: std::num::NonZeroUsize::new(1),
        ..case.options.clone()
    };
    let mut work = WORK_MAX;
    let mut is_found = |items: &[Item]| {
        work = work.checked_sub(items.len() + 1)?;
        let excerpt = case.digest.excerpt(items);
        Some(with_findings(
            &excerpt,
            &alone,
            finding.property,
            |case, found| found.iter().any(|found| wanted.is_of(case, found)),
        ))
    };
    let wider: [fn(&Case, &Finding) -> Vec<Item>; 3] = [of_participants, of_key, all];
    let lazy = wider.iter().map(|more| more(case, finding));
    for items in std::iter::once(own.clone()).chain(lazy) {
        if items.is_empty() || items.len() > ITEMS_MAX {
            break;
        }
        if is_found(&items) == Some(true) {
            return smallest(items, is_found);
        }
    }
    own
}

/// The fewest of `items` with which it is found: without any one of them it is not. Where that
/// takes too long, fewer of them.
fn smallest(mut items: Vec<Item>, mut is_found: impl FnMut(&[Item]) -> Option<bool>) -> Vec<Item> {
    let mut size = items.len().div_ceil(2).max(1);
    loop {
        let (mut at, mut is_less) = (0, false);
        while at < items.len() {
            let end = items.len().min(at + size);
            let rest = [&items[..at], &items[end..]].concat();
            match is_found(&rest) {
                Some(true) => (items, is_less) = (rest, true),
                Some(false) => at = end,
                None => return items,
            }
        }
        if size == 1 && !is_less {
            return items;
        }
        size = size.div_ceil(2);
    }
}

/// By what a violation is known again.
#[derive(PartialEq)]
struct Likeness {
    key: String,
    claim: String,
    start: Nanos,
    /// Absent where it lasts to the end of the history.
    end: Option<Nanos>,
    certain: bool,
    /// Holders by name, each with the invocation of its acquire.
    holders: Vec<(String, u64)>,
}

impl Likeness {
    fn of(case: &Case, finding: &Finding) -> Self {
        let shown = case.shown(finding.interval);
        let holders = finding.holds.iter().map(|&at| &case.holds[at]);
        Self {
            key: case.digest.key(finding.key).to_owned(),
            claim: rule(finding.property).claim(case, finding, shown),
            start: finding.interval.start,
            end: Some(finding.interval.end).filter(|&end| end < Nanos::MAX),
            certain: finding.certain,
            holders: holders
                .map(|hold| {
                    let owner = case.digest.owner(hold.owner).to_owned();
                    (owner, case.digest.operation(hold.acquire).invoke)
                })
                .collect(),
        }
    }

    fn is_of(&self, case: &Case, finding: &Finding) -> bool {
        // To put it into words takes longer than to look at the time.
        finding.interval.start == self.start && *self == Self::of(case, finding)
    }
}

/// Returns the events that the rule has looked at.
fn own(case: &Case, finding: &Finding) -> Vec<Item> {
    let holds = finding.holds.iter().map(|&at| &case.holds[at]);
    let of_holds = holds.flat_map(|hold| {
        let mut all = case.operations_of_hold(hold);
        all.extend(hold.proof.into_iter().chain(hold.release));
        all
    });
    let operations: BTreeSet<_> = of_holds.chain(finding.operations.iter().copied()).collect();
    let mut items: BTreeSet<Item> = operations.into_iter().map(Item::Operation).collect();
    items.extend(notes(case, finding, &participants(case, finding)));
    items.into_iter().collect()
}

/// Returns the owners that take part.
fn participants(case: &Case, finding: &Finding) -> BTreeSet<OwnerId> {
    let holders = finding.holds.iter().map(|&at| case.holds[at].owner);
    let others = finding.operations.iter();
    let others = others.map(|&id| case.digest.operation(id).owner);
    holders.chain(others).collect()
}

/// The notes on which a verdict on these owners may rest.
fn notes(case: &Case, finding: &Finding, owners: &BTreeSet<OwnerId>) -> BTreeSet<Item> {
    let digest = case.digest;
    let mut items = BTreeSet::new();
    let lost = digest.lost.iter();
    let lost = lost.filter(|note| note.key == finding.key && owners.contains(&note.owner));
    items.extend(lost.map(|note| Item::Note(note.event)));
    let queued = digest.queued.iter();
    let queued = queued.filter(|note| note.key == finding.key && owners.contains(&note.owner));
    items.extend(queued.map(|note| Item::Note(note.event)));
    // Who crashes takes its sessions along, and with them what it has.
    let crashes = digest.asides.failures.iter().filter(|failure| {
        let of_one = |&owner: &OwnerId| *failure.owner == *digest.owner(owner);
        failure.note.kind == FailureKind::Crash && owners.iter().any(of_one)
    });
    items.extend(crashes.map(|failure| Item::Note(failure.event)));
    for evidence in rule(finding.property).rests_on() {
        items.extend(evidence_items(case, finding, owners, *evidence));
    }
    items
}

/// The events of one kind of evidence.
fn evidence_items(
    case: &Case,
    finding: &Finding,
    owners: &BTreeSet<OwnerId>,
    evidence: Evidence,
) -> Vec<Item> {
    let digest = case.digest;
    match evidence {
        Evidence::Commands => commands(case, finding),
        Evidence::Views => views(case, finding),
        Evidence::Failure => {
            let failure = failure(case, finding);
            failure
                .map(|failure| Item::Note(failure.event))
                .into_iter()
                .collect()
        }
        Evidence::SignsOfLife => {
            let life = owners.iter().map(|&owner| sign_of_life(case, owner));
            let acting = digest.acting.iter();
            let acting =
                acting.filter(|note| note.key == finding.key && owners.contains(&note.owner));
            let acting = acting.map(|note| Item::Note(note.event));
            let releases = owners.iter().filter_map(|&owner| release(case, owner));
            life.chain(acting)
                .chain(releases.map(Item::Operation))
                .collect()
        }
        Evidence::FinalPhase => {
            let phase = digest
                .final_phase
                .iter()
                .map(|phase| Item::Note(phase.event));
            let stages = case.faults.iter().flat_map(|fault| &fault.stages);
            phase
                .chain(stages.map(|stage| Item::Note(stage.event)))
                .collect()
        }
        Evidence::End => vec![digest.last_item()],
    }
}

/// Returns the notes of the commands that servers were seen to be sent for the lock while the
/// operation was under way.
fn commands(case: &Case, finding: &Finding) -> Vec<Item> {
    let Some(operation) = finding.operation().map(|id| case.digest.operation(id)) else {
        return Vec::new();
    };
    let commands = case.digest.asides.commands.iter();
    let inside = commands.filter(|command| {
        let took = operation.invoked <= command.time && command.time <= finding.interval.end;
        took && *command.key == **case.digest.keys.name(finding.key.0)
    });
    inside.map(|command| Item::Note(command.event)).collect()
}

/// Returns the notes of what the servers were seen to have of the lock since the interval began,
/// and those of all their roles.
fn views(case: &Case, finding: &Finding) -> Vec<Item> {
    let asides = &case.digest.asides;
    let views = asides.views.iter();
    let views = views.filter(|view| {
        let later = view.time >= finding.interval.start;
        later && *view.key == **case.digest.keys.name(finding.key.0)
    });
    let views = views.map(|view| Item::Note(view.event));
    let roles = asides.roles.iter().map(|role| Item::Note(role.event));
    views.chain(roles).collect()
}

/// All that those who take part did on the lock.
fn of_participants(case: &Case, finding: &Finding) -> Vec<Item> {
    let owners = participants(case, finding);
    let mut items = notes(case, finding, &owners);
    let all = case.digest.operations_on(finding.key);
    let own = all.filter(|(_, operation)| owners.contains(&operation.owner));
    items.extend(own.map(|(id, _)| Item::Operation(id)));
    items.into_iter().collect()
}

/// All that anybody did on the lock, unless it is much.
fn of_key(case: &Case, finding: &Finding) -> Vec<Item> {
    let digest = case.digest;
    if digest.edges(finding.key).len() > 2 * ITEMS_MAX {
        return Vec::new();
    }
    let owners = digest.operations_on(finding.key);
    let owners: BTreeSet<OwnerId> = owners.map(|(_, operation)| operation.owner).collect();
    let mut items = notes(case, finding, &owners);
    items.extend(
        digest
            .operations_on(finding.key)
            .map(|(id, _)| Item::Operation(id)),
    );
    items.into_iter().collect()
}

/// The last event by which an owner is known to be alive.
fn sign_of_life(case: &Case, owner: OwnerId) -> Item {
    let event = case.digest.sign_of_life(owner);
    let mut own = case.operations_of(owner).iter().rev();
    let of_event = |id: &&OpId| {
        let operation = case.digest.operation(**id);
        operation.invoke == event || operation.last_event() == event
    };
    let operation = own.find(of_event);
    operation.map_or(Item::Note(event), |&id| Item::Operation(id))
}

/// A release of an owner, which shows that it is one that releases.
fn release(case: &Case, owner: OwnerId) -> Option<OpId> {
    let mut own = case.operations_of(owner).iter().copied();
    own.find(|&id| case.digest.operation(id).action == Action::Release)
}

/// The whole history, unless it is long.
fn all(case: &Case, finding: &Finding) -> Vec<Item> {
    let digest: &Digest = case.digest;
    if digest.operations.len() > ITEMS_MAX {
        return Vec::new();
    }
    let mut items: BTreeSet<Item> = digest.ids().map(Item::Operation).collect();
    items.extend(notes(case, finding, &participants(case, finding)));
    items.extend(digest.lost.iter().map(|note| Item::Note(note.event)));
    items.extend(digest.queued.iter().map(|note| Item::Note(note.event)));
    items.extend(digest.acting.iter().map(|note| Item::Note(note.event)));
    let failures = digest.asides.failures.iter();
    items.extend(failures.map(|note| Item::Note(note.event)));
    items.extend(digest.faults.iter().map(|note| Item::Note(note.event)));
    items.extend(digest.final_phase.map(|phase| Item::Note(phase.event)));
    let owners = (0..digest.owners.len() as u32).map(OwnerId);
    items.extend(owners.map(|owner| sign_of_life(case, owner)));
    items.insert(digest.last_item());
    items.into_iter().collect()
}
