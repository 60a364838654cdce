//! Stretches of time. What they mean is said where they are used.

use crate::history::Nanos;

/// From `start` to `end`. Ties count as concurrent, so two intervals that touch in one instant
/// prove nothing: only a positive length counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Interval {
    /// Time at which it begins.
    pub start: Nanos,
    /// Time at which it ends; [`Nanos::MAX`] if it never does.
    pub end: Nanos,
}

impl Interval {
    /// From `start` to `end`.
    pub const fn new(start: Nanos, end: Nanos) -> Self {
        Self { start, end }
    }

    /// Tells whether the interval has no length.
    pub fn is_empty(self) -> bool {
        self.end <= self.start
    }

    /// Returns the length of the interval; zero if it is empty.
    pub fn length(self) -> Nanos {
        self.end - self.start
    }

    /// Returns the part that both have in common, which may be empty.
    #[must_use]
    pub fn intersect(self, other: Self) -> Self {
        Self::new(self.start.max(other.start), self.end.min(other.end))
    }

    /// Tells whether the two have a stretch of positive length in common.
    pub fn overlaps(self, other: Self) -> bool {
        !self.intersect(other).is_empty()
    }

    /// Tells whether the two have an instant in common: the reading for "may have met".
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
