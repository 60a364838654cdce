//! Time for which a lease binds the service, and time by which it has certainly run out.
//!
//! ```text
//!  x sent        x answered                floor         ceiling
//!    |---------------|- - - - - - - - - - - -|- - - - - - - -|
//!    the lease starts somewhere in here      not before this, not after this
//! ```

use serde::{Deserialize, Serialize};

use crate::history::{Header, Nanos};

/// Most that clocks may run apart during a lease: a share of it, and a fixed part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drift {
    /// Share of the lease, in parts per million.
    pub ppm: u64,
    /// Fixed part.
    pub fixed: Nanos,
}

impl Default for Drift {
    /// Returns the drift that Redlock's description and the libraries that follow it take off: 1 %
    /// and 2 ms.
    fn default() -> Self {
        Self {
            ppm: 10_000,
            fixed: Nanos::from_millis(2),
        }
    }
}

impl Drift {
    /// The drift that a header names; the default for what it does not name.
    pub fn of_header(header: &Header) -> Self {
        let default = Self::default();
        Self {
            ppm: header.drift_ppm.unwrap_or(default.ppm),
            fixed: header.drift_ms.map_or(default.fixed, Nanos::from_millis),
        }
    }

    /// Returns the time to take off, or to add to, a lease of this length.
    pub fn of(self, lease: Nanos) -> Nanos {
        let share = u128::from(lease.0) * u128::from(self.ppm) / 1_000_000;
        Nanos(u64::try_from(share).unwrap_or(u64::MAX)) + self.fixed
    }
}

/// The two ends of a lease, over all acquires and renewals that succeeded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lease {
    /// Before it the service may not drop the lock. [`Nanos::MAX`] without a lease.
    pub floor: Nanos,
    /// After it the service has certainly dropped the lock. [`Nanos::MAX`] without a lease.
    pub ceiling: Nanos,
    /// By how much renewals that had no answer may yet move the ceiling. Each extends only a lock
    /// that is still there, and so by its own length at the most, whenever it takes effect.
    pub slack: Nanos,
}

impl Lease {
    /// A lock that never expires.
    pub const NONE: Self = Self {
        floor: Nanos::MAX,
        ceiling: Nanos::MAX,
        slack: Nanos(0),
    };

    /// Lease that an acquire may have given that nothing proves: nothing is sure, everything
    /// possible.
    pub const UNPROVED: Self = Self {
        floor: Nanos(0),
        ceiling: Nanos::MAX,
        slack: Nanos(0),
    };

    /// The lease that one success gives: asked for at `sent`, granted at `answered`.
    ///
    /// One of length zero is a lease whose length nobody wrote down: the lock was held when it was
    /// asked for, and may have run out at any time after, or never.
    pub fn granted(sent: Nanos, answered: Nanos, length: Option<Nanos>, drift: Drift) -> Self {
        match length {
            None => Self::NONE,
            Some(Nanos(0)) => Self {
                floor: sent,
                ceiling: Nanos::MAX,
                slack: Nanos(0),
            },
            Some(length) => Self {
                floor: (sent + length) - drift.of(length),
                ceiling: answered + length + drift.of(length),
                slack: Nanos(0),
            },
        }
    }

    /// The later ends of both.
    #[must_use]
    pub fn extended(self, other: Self) -> Self {
        Self {
            floor: self.floor.max(other.floor),
            ..self.reaching(other.ceiling)
        }
    }

    /// A success says that the service may keep the lock up to `ceiling`, and renewals without an
    /// answer for longer.
    #[must_use]
    pub fn reaching(self, ceiling: Nanos) -> Self {
        Self {
            ceiling: self.ceiling.max(ceiling + self.slack),
            ..self
        }
    }

    /// Renewals that had no answer may move the ceiling by so much, in all.
    #[must_use]
    pub fn loosened(self, by: Nanos) -> Self {
        Self {
            floor: self.floor,
            ceiling: self.ceiling + by,
            slack: self.slack + by,
        }
    }

    /// By how much one renewal without an answer may move a ceiling; without end where nobody
    /// wrote down its length.
    pub fn slack_of(length: Option<Nanos>, drift: Drift) -> Nanos {
        let known = length.filter(|&length| length > Nanos(0));
        known.map_or(Nanos::MAX, |length| length + drift.of(length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_drift_is_taken_off_the_floor_and_added_to_the_ceiling() {
        let (sent, answered) = (Nanos::from_millis(100), Nanos::from_millis(110));
        let length = Some(Nanos::from_millis(2000));
        let lease = Lease::granted(sent, answered, length, Drift::default());
        assert_eq!(lease.floor, Nanos::from_millis(100 + 2000 - 22));
        assert_eq!(lease.ceiling, Nanos::from_millis(110 + 2000 + 22));
    }

    #[test]
    fn a_renewal_without_an_answer_moves_the_ceiling_by_its_length_at_the_most() {
        let (drift, length) = (Drift::default(), Nanos::from_millis(2000));
        let granted = |at| Lease::granted(Nanos(at), Nanos(at), Some(length), drift);
        let slack = Lease::slack_of(Some(length), drift);
        assert_eq!(slack, Nanos::from_millis(2022));
        let loose = granted(0).loosened(slack);
        assert_eq!(loose.floor, granted(0).floor);
        assert_eq!(loose.ceiling, granted(0).ceiling + slack);
        // It may still arrive after a later success.
        assert_eq!(
            loose.extended(granted(500)).ceiling,
            granted(500).ceiling + slack
        );
        assert_eq!(Lease::slack_of(None, drift), Nanos::MAX);
    }

    #[test]
    fn a_lease_shorter_than_its_drift_guarantees_nothing_and_huge_ones_saturate() {
        let short = Lease::granted(Nanos(0), Nanos(1), Some(Nanos(5)), Drift::default());
        assert_eq!(short.floor, Nanos(0));
        let huge = Lease::granted(Nanos(9), Nanos(9), Some(Nanos::MAX), Drift::default());
        assert_eq!(huge.ceiling, Nanos::MAX);
    }

    #[test]
    fn a_lease_of_unknown_length_proves_the_past_and_excludes_nothing() {
        let lease = Lease::granted(Nanos(7), Nanos(9), Some(Nanos(0)), Drift::default());
        assert_eq!((lease.floor, lease.ceiling), (Nanos(7), Nanos::MAX));
    }

    #[test]
    fn the_header_overrides_the_default_piece_by_piece() {
        let header = Header {
            drift_ms: Some(0),
            ..Header::new()
        };
        let drift = Drift::of_header(&header);
        assert_eq!(drift.of(Nanos::from_millis(1000)), Nanos::from_millis(10));
    }
}
