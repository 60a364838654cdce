//! What the caller of the checker decides.

use std::collections::BTreeSet;

use crate::history::{Header, Nanos};
use crate::lease::Drift;
use crate::verdict::Property;

/// How a history is judged. The default judges all that it has matter for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Judge these properties only, and say `unknown` of those without matter.
    pub only: Option<BTreeSet<Property>>,
    /// Drift taken off every lease; absent means what the header says.
    pub drift: Option<Drift>,
    /// How long a free lock may be unobtainable, where the history itself names no bound.
    pub liveness_bound: Option<Nanos>,
    /// How many violations of each property are explained; all are counted.
    pub witnesses_max: usize,
}

/// A lock that cannot be had for so long, though it is free, is stuck in anybody's eyes: it is
/// five times the lease that lock libraries propose for short work.
const LIVENESS_BOUND: Nanos = Nanos::from_millis(10_000);
/// A reader follows a handful of stories; the count tells of the others.
const WITNESSES_MAX: usize = 5;

impl Default for Options {
    fn default() -> Self {
        Self {
            only: None,
            drift: None,
            liveness_bound: None,
            witnesses_max: WITNESSES_MAX,
        }
    }
}

impl Options {
    /// The drift to judge a history with this header by.
    pub fn drift(&self, header: &Header) -> Drift {
        self.drift.unwrap_or_else(|| Drift::of_header(header))
    }

    /// The bound of liveness, given the one that the history names.
    pub fn bound(&self, named: Option<Nanos>) -> Nanos {
        named.or(self.liveness_bound).unwrap_or(LIVENESS_BOUND)
    }
}
