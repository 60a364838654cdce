//! Bounds on how far the clocks may be off by which a history was recorded.
//!
//! For: histories of several hosts, each of which reads its own clock. Not for: how far clocks run
//! apart during a lease, which is the drift.

use std::collections::BTreeMap;

use crate::history::{Header, Nanos};

/// Most that the clock of each process may be ahead or behind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClockError {
    /// Of those that are not named below.
    pub usual: Nanos,
    /// Of some processes, by their number or by the name of their owner.
    pub of: BTreeMap<String, Nanos>,
}

impl ClockError {
    /// Returns the same error for all processes.
    pub fn of_all(error: Nanos) -> Self {
        Self {
            usual: error,
            of: BTreeMap::new(),
        }
    }

    /// Returns the errors that a header names.
    pub fn of_header(header: &Header) -> Self {
        let of = header.clock_error_ms_of.iter();
        Self {
            usual: Nanos::from_millis(header.clock_error_ms.unwrap_or(0)),
            of: of
                .map(|(name, &ms)| (name.clone(), Nanos::from_millis(ms)))
                .collect(),
        }
    }

    /// That of one process.
    pub(crate) fn of_process(&self, process: u64, owner: &str) -> Nanos {
        let named = || self.of.get(&process.to_string());
        if self.of.is_empty() {
            return self.usual;
        }
        *self.of.get(owner).or_else(named).unwrap_or(&self.usual)
    }

    /// The largest of all.
    pub fn max(&self) -> Nanos {
        let of = self.of.values().copied();
        of.fold(self.usual, Nanos::max)
    }
}
