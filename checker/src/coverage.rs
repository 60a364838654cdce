//! What a history contains, so that a verdict can be weighed.

use std::collections::HashSet;

use crate::digest::Digest;
use crate::faults;
use crate::history::{Mode, Nanos};
use crate::hold::Hold;
use crate::operation::{Action, KeyId, Operation, Outcome, OwnerId};
use crate::verdict::{Coverage, FaultSummary};

/// Counts once over a history and its holds.
pub(crate) fn coverage(digest: &Digest, holds: &[Hold], faults: &[FaultSummary]) -> Coverage {
    let mut keys = HashSet::new();
    let mut owners = HashSet::new();
    let mut coverage = Coverage {
        events: digest.events,
        operations: digest.operations.len() as u64,
        ..Coverage::default()
    };
    for operation in &digest.operations {
        coverage.indeterminate += u64::from(operation.outcome == Outcome::Unknown);
        if operation.action != Action::Acquire {
            continue;
        }
        keys.insert(operation.key);
        owners.insert(operation.owner);
        coverage.granted += u64::from(operation.outcome == Outcome::Ok);
        coverage.refused += u64::from(operation.outcome == Outcome::Refused);
    }
    coverage.keys = keys.len() as u64;
    coverage.owners = owners.len() as u64;
    coverage.contended = contended(digest, holds);
    let windows = faults::windows(faults);
    for hold in holds.iter().filter(|hold| hold.is_granted()) {
        coverage.granted_under_fault += u64::from(windows.touch(hold.possible()));
        let outlived = hold.lease.ceiling < hold.core.end.min(digest.end);
        coverage.expired += u64::from(outlived);
    }
    coverage
}

/// Acquires that were tried while another owner held the lock, or may have held it, in a mode that
/// excludes them. An acquire that was refused met a holder by the server's own word; an
/// indeterminate one that nothing proves is nobody's holder.
fn contended(digest: &Digest, holds: &[Hold]) -> u64 {
    let mut acquires: Vec<&Operation> = digest
        .operations
        .iter()
        .filter(|operation| operation.action == Action::Acquire)
        .filter(|operation| operation.outcome != Outcome::Failed)
        .collect();
    acquires.sort_by_key(|acquire| (acquire.key, until(acquire)));
    let mut rivals: Vec<&Hold> = holds.iter().filter(|hold| hold.is_granted()).collect();
    rivals.sort_by_key(|hold| (hold.key, hold.hull.start));
    let mut rivals = rivals.into_iter().peekable();
    let (mut key, mut writers, mut all) = (None, Reach::default(), Reach::default());
    let mut count = 0;
    for acquire in acquires {
        if key.replace(acquire.key) != Some(acquire.key) {
            (writers, all) = (Reach::default(), Reach::default());
        }
        while let Some(rival) = rivals.next_if(|rival| begins_before(rival, acquire)) {
            if rival.key == acquire.key {
                all.add(rival);
                if rival.mode == Mode::Write {
                    writers.add(rival);
                }
            }
        }
        let excluding = match acquire.mode {
            Mode::Write => &all,
            Mode::Read => &writers,
        };
        let met = excluding.of_others(acquire.owner) > acquire.invoked;
        count += u64::from(met || acquire.outcome == Outcome::Refused);
    }
    count
}

fn begins_before(rival: &Hold, acquire: &Operation) -> bool {
    let place: (KeyId, Nanos) = (rival.key, rival.hull.start);
    place < (acquire.key, until(acquire))
}

/// How long an acquire was under way.
fn until(acquire: &Operation) -> Nanos {
    let completion = acquire.completion;
    completion.map_or(Nanos::MAX, |completion| completion.time)
}

/// How far the holds seen so far reach: the farthest, and the farthest of any other owner.
#[derive(Default)]
struct Reach {
    first: (Nanos, Option<OwnerId>),
    other: Nanos,
}

impl Reach {
    fn add(&mut self, hold: &Hold) {
        let end = hold.possible().end;
        if self.first.1 == Some(hold.owner) {
            self.first.0 = self.first.0.max(end);
        } else if end > self.first.0 {
            self.other = self.first.0;
            self.first = (end, Some(hold.owner));
        } else {
            self.other = self.other.max(end);
        }
    }

    fn of_others(&self, owner: OwnerId) -> Nanos {
        if self.first.1 == Some(owner) {
            self.other
        } else {
            self.first.0
        }
    }
}
