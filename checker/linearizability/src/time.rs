//! Points in time.

/// A point in time, in nanoseconds since some beginning that all calls have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

impl Time {
    /// Later than any other time: the return of a call that never returns.
    pub const MAX: Self = Self(u64::MAX);
}
