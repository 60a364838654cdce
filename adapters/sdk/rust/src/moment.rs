//! Moments as the harness can know them.

use std::time::Instant;

use serde::Serialize;

/// Moment as the harness can know it.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Moment {
    /// Number of the last request that had been read.
    after: u64,
    /// Time since its line was read, in whole microseconds.
    after_us: u64,
}

/// Request, and when its line was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heard {
    pub(crate) id: u64,
    pub(crate) at: Instant,
}

impl Heard {
    /// Moment of this time; none where the request was read later.
    pub(crate) fn moment(self, time: Instant) -> Option<Moment> {
        let passed = time.checked_duration_since(self.at)?;
        Some(Moment {
            after: self.id,
            after_us: u64::try_from(passed.as_micros()).unwrap_or(u64::MAX),
        })
    }
}
