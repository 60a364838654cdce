//! Since when each lock has something under way.

use std::collections::HashSet;

use super::PATIENCE;
use crate::case::Case;
use crate::history::Nanos;
use crate::hold::Hold;
use crate::operation::{OpId, Operation};

/// From when on a lock is not settled. What ended in that instant may still have met what began
/// in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Horizon {
    /// When the first operation was sent that waits for its answer. What met it is not judged for
    /// good before the answer is there.
    pub(super) unanswered: Nanos,
    /// When the first of what is not judged for good began, or of the holds that are open.
    pub(super) begun: Nanos,
}

/// The horizon of each key, by number.
pub(super) fn horizons(case: &Case, in_flight: &HashSet<OpId>) -> Vec<Horizon> {
    let digest = case.digest;
    let phase = digest.final_phase.map_or(digest.end, |phase| phase.time);
    let first = Horizon {
        begun: phase,
        unanswered: phase,
    };
    let mut horizons = vec![first; digest.keys.len()];
    for operation in in_flight.iter().map(|&id| digest.operation(id)) {
        if operation.invoked + PATIENCE >= digest.end {
            let unanswered = &mut horizons[operation.key.0 as usize].unanswered;
            *unanswered = (*unanswered).min(operation.invoked);
        }
    }
    for operation in &digest.operations {
        let horizon = &mut horizons[operation.key.0 as usize];
        if ended(operation) >= horizon.unanswered {
            horizon.begun = horizon.begun.min(operation.invoked);
        }
    }
    for hold in case.holds.iter().filter(|hold| hold.is_granted()) {
        let releasing = hold.release.is_some_and(|id| in_flight.contains(&id));
        if (releasing || is_open(hold)) && !is_abandoned(case, hold) {
            let horizon = &mut horizons[hold.key.0 as usize];
            horizon.begun = horizon.begun.min(hold.hull.start);
        }
    }
    horizons
}

/// When an operation was over, as far as its client is concerned.
pub(super) fn ended(operation: &Operation) -> Nanos {
    let completion = operation.completion;
    completion.map_or(operation.invoked, |completion| completion.time)
}

/// Whether no release of it was sent, and nothing else ended it.
pub(super) fn is_open(hold: &Hold) -> bool {
    hold.core.end == Nanos::MAX
}

/// Whether its client is long silent, and its lease long over.
pub(super) fn is_abandoned(case: &Case, hold: &Hold) -> bool {
    hold.alive.max(hold.lease.ceiling) + PATIENCE < case.digest.end
}
