//! Since when each lock has something under way.

use std::collections::HashSet;

use super::PATIENCE;
use crate::case::Case;
use crate::history::Nanos;
use crate::hold::Hold;
use crate::operation::{KeyId, OpId, Operation};

/// The first event that is not settled, and its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Horizon {
    pub(super) event: u64,
    pub(super) time: Nanos,
}

impl Horizon {
    fn at(operation: &Operation) -> Self {
        Self {
            event: operation.invoke,
            time: operation.invoked,
        }
    }
}

/// The horizon of each key, by number.
pub(super) fn horizons(case: &Case, in_flight: &HashSet<OpId>) -> Vec<Horizon> {
    let digest = case.digest;
    let now = Horizon {
        event: u64::MAX,
        time: digest.end,
    };
    let first = digest.final_phase.map_or(now, |phase| Horizon {
        event: phase.event,
        time: phase.time,
    });
    let mut horizons = vec![first; digest.keys.len()];
    let mut reach = |key: KeyId, operation: &Operation| {
        let horizon = &mut horizons[key.0 as usize];
        *horizon = (*horizon).min(Horizon::at(operation));
    };
    for operation in in_flight.iter().map(|&id| digest.operation(id)) {
        if operation.invoked + PATIENCE >= digest.end {
            reach(operation.key, operation);
        }
    }
    for hold in case.holds.iter().filter(|hold| hold.is_granted()) {
        let releasing = hold.release.is_some_and(|id| in_flight.contains(&id));
        if (releasing || is_open(hold)) && !is_abandoned(case, hold) {
            reach(hold.key, digest.operation(hold.acquire));
        }
    }
    horizons
}

/// Whether no release of it was sent, and nothing else ended it.
pub(super) fn is_open(hold: &Hold) -> bool {
    hold.core.end == Nanos::MAX
}

/// Whether its client is long silent, and its lease long over.
pub(super) fn is_abandoned(case: &Case, hold: &Hold) -> bool {
    hold.alive.max(hold.lease.ceiling) + PATIENCE < case.digest.end
}
