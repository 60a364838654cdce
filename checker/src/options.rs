//! Options that the caller of the checker decides.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::thread::available_parallelism;

use crate::clock_error::ClockError;
use crate::history::{Header, Nanos};
use crate::operations::Drift;
use crate::verdict::Property;
use lockstorm_linearizability::ModelName;

/// Options of the judgement of a history. The default judges all that it has matter for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Judge these properties only, and say `unknown` of those without matter.
    pub only: Option<BTreeSet<Property>>,
    /// Drift taken off every lease; absent means what the header says.
    pub drift: Option<Drift>,
    /// Time by which the clocks of the processes may be off; absent means what the header says.
    pub clock_error: Option<ClockError>,
    /// Time for which a free lock may be unobtainable, where the history itself names no bound.
    pub liveness_bound: Option<Nanos>,
    /// Time for which a stretch without a grant may be; absent means what the header says, if
    /// anything.
    pub availability_gap_max: Option<Nanos>,
    /// The model that the property `model` judges by; absent means that it is not judged.
    pub model: Option<ModelName>,
    /// Steps that the search for an order that the model allows may take for each lock. Equal input
    /// takes equally many on any machine.
    pub budget: u64,
    /// Number of violations of each property that are explained; all are counted.
    pub witnesses_max: usize,
    /// Number of threads that judge; absent means as many as the machine has, where the history is
    /// long enough to need them. The analysis is the same for any number.
    pub threads: Option<NonZeroUsize>,
}

/// A lock that cannot be had for so long, though it is free, is stuck in anybody's eyes: it is
/// five times the lease that lock libraries propose for short work.
const LIVENESS_BOUND: Nanos = Nanos::from_millis(10_000);
/// About a minute. A search that is not over by then will hardly be over after an hour: it is
/// exponential.
const BUDGET: u64 = 1_000_000_000;
/// A reader follows a handful of stories; the count tells of the others.
const WITNESSES_MAX: usize = 5;

/// Up to so many operations are judged in a millisecond or two, and not much sooner by threads,
/// which have to be started first.
const OPERATIONS_ALONE_MAX: usize = 10_000;

impl Default for Options {
    fn default() -> Self {
        Self {
            only: None,
            drift: None,
            clock_error: None,
            liveness_bound: None,
            availability_gap_max: None,
            model: None,
            budget: BUDGET,
            witnesses_max: WITNESSES_MAX,
            threads: None,
        }
    }
}

impl Options {
    /// The drift to judge a history with this header by.
    pub fn drift(&self, header: &Header) -> Drift {
        self.drift.unwrap_or_else(|| Drift::of_header(header))
    }

    /// Returns the time by which clocks may be off in a history with this header.
    pub fn clock_error(&self, header: &Header) -> ClockError {
        let named = self.clock_error.clone();
        named.unwrap_or_else(|| ClockError::of_header(header))
    }

    /// Returns these options with so much more time for a lock to be had.
    pub(crate) fn with_bounds_longer_by(&self, time: Nanos, header: &Header) -> Self {
        Self {
            liveness_bound: Some(self.bound(None) + time),
            availability_gap_max: self.availability_gap_max(header).map(|gap| gap + time),
            ..self.clone()
        }
    }

    /// Tells whether a property is to be judged.
    pub(crate) fn wants(&self, property: Property) -> bool {
        let only = self.only.as_ref();
        only.is_none_or(|only| only.contains(&property))
    }

    /// Returns the number of threads that judge a history of so many operations.
    pub(crate) fn threads(&self, operations: usize) -> usize {
        match self.threads {
            Some(threads) => threads.get(),
            None if operations <= OPERATIONS_ALONE_MAX => 1,
            None => available_parallelism().map_or(1, NonZeroUsize::get),
        }
    }

    /// The bound of availability for a history with this header, if there is one.
    pub fn availability_gap_max(&self, header: &Header) -> Option<Nanos> {
        let named = header.availability_gap_ms_max.map(Nanos::from_millis);
        self.availability_gap_max.or(named)
    }

    /// The bound of liveness, given the one that the history names.
    pub fn bound(&self, named: Option<Nanos>) -> Nanos {
        named.or(self.liveness_bound).unwrap_or(LIVENESS_BOUND)
    }
}
