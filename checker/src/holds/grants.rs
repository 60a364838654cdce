//! Number of grants that an owner has of one lock, as bounds.
//!
//! For: telling which release of an owner that was granted a lock again ends its hold. Not for:
//! judging the counts that replies tell; that is done by the ledger.

use crate::operations::{Operation, Outcome};

/// The grants of the hold that is open, or of the one that was left.
#[derive(Clone, Copy, Default)]
pub(crate) struct Grants {
    /// Those that no release was sent for.
    pub(crate) least: u32,
    /// Those that no release has certainly given back.
    pub(crate) most: u32,
    /// Releases without an answer so far: each may strike at any time.
    doubts: u32,
    /// True if the service counts them.
    is_counted: bool,
}

impl Grants {
    /// The first grant of a hold, as far as its owner believes: the service may count others that
    /// the owner has given up, at least one if it `enters_again`.
    pub(crate) fn begin(&mut self, count: Option<u32>, enters_again: bool) {
        let most = count.unwrap_or(1 + u32::from(enters_again)).max(1);
        (self.least, self.most, self.is_counted) = (1, most, false);
    }

    pub(crate) fn again(&mut self, acquire: &Operation) {
        let least = self.least.saturating_add(1);
        self.least = acquire.count.map_or(least, |count| least.min(count));
        self.most = self.most.saturating_add(1);
        self.is_counted = acquire.count.is_some_and(|count| count > 1);
    }

    /// Tells whether `release` leaves its owner with the lock, by the service's own word.
    pub(crate) fn outlast(self, release: &Operation) -> bool {
        let left = self.least.saturating_sub(self.doubts);
        left > 1
            && release.outcome != Outcome::NotOwner
            && release.count.map_or(self.is_counted, |count| count > 0)
    }

    pub(crate) fn release(&mut self, release: &Operation) {
        self.least = self.least.saturating_sub(1);
        match release.outcome {
            Outcome::Ok if release.count == Some(0) => self.over(),
            Outcome::Ok => {
                let most = self.most.saturating_sub(1);
                self.most = release.count.map_or(most, |count| most.max(count));
            }
            Outcome::NotOwner => self.over(),
            Outcome::Unknown => self.doubts += 1,
            Outcome::Refused | Outcome::Failed => {}
        }
    }

    pub(crate) fn over(&mut self) {
        (self.least, self.most) = (0, 0);
    }
}
