//! The unit of the embedded times.

use lockstorm_checker::Nanos;

/// Histories of up to so many operations are embedded to the nanosecond. Of a longer one nobody
/// sees less than a microsecond, and its page would be half as large again.
const EXACT_MAX: usize = 200_000;
/// The largest whole number that JavaScript's own numbers tell from its neighbours.
pub(super) const NUMBER_MAX: u64 = (1 << 53) - 1;
/// Tokens from here on are embedded as text: the difference of two has a sign, which takes a bit.
pub(super) const TOKEN_MAX: u64 = 1 << 52;

/// Nanoseconds of a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unit(pub(super) u64);

impl Unit {
    /// The unit for so many operations.
    pub(super) const fn of(operations: usize) -> Self {
        Self(if operations <= EXACT_MAX { 1 } else { 1_000 })
    }

    /// An instant in ticks, cut off as everywhere in a report. Instants that no script could tell
    /// apart, a hundred days into a run, come as the last one that it can.
    pub(super) fn ticks(self, at: Nanos) -> i64 {
        (at.0 / self.0).min(NUMBER_MAX).cast_signed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_operations_keep_their_nanoseconds_and_many_their_microseconds() {
        assert_eq!(Unit::of(10).ticks(Nanos(1_234_567)), 1_234_567);
        assert_eq!(Unit::of(1_000_000).ticks(Nanos(1_234_567)), 1_234);
        assert_eq!(Unit::of(10).ticks(Nanos::MAX), (1 << 53) - 1);
    }
}
