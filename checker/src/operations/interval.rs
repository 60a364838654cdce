//! Stretches of time. What they mean is said where they are used.

use crate::history::Nanos;

/// From `start` to `end`. Ties count as concurrent, so two intervals that touch in one instant
/// prove nothing: only a positive length counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Interval {
    /// Where it begins.
    pub start: Nanos,
    /// Where it ends; [`Nanos::MAX`] if it never does.
    pub end: Nanos,
}

impl Interval {
    /// From `start` to `end`.
    pub const fn new(start: Nanos, end: Nanos) -> Self {
        Self { start, end }
    }

    /// Whether it has no length.
    pub fn is_empty(self) -> bool {
        self.end <= self.start
    }

    /// How long it is; nothing if it is empty.
    pub fn length(self) -> Nanos {
        self.end - self.start
    }

    /// What both have in common; may be empty.
    #[must_use]
    pub fn intersect(self, other: Self) -> Self {
        Self::new(self.start.max(other.start), self.end.min(other.end))
    }

    /// Whether the two have a stretch of positive length in common.
    pub fn overlaps(self, other: Self) -> bool {
        !self.intersect(other).is_empty()
    }

    /// Whether the two have an instant in common: the reading for "may have met".
    pub fn touches(self, other: Self) -> bool {
        self.start <= other.end && other.start <= self.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_that_share_one_instant_touch_and_do_not_overlap() {
        let first = Interval::new(Nanos(1), Nanos(5));
        let next = Interval::new(Nanos(5), Nanos(9));
        assert!(first.touches(next) && !first.overlaps(next));
        assert!(first.overlaps(Interval::new(Nanos(4), Nanos(5))));
    }
}
