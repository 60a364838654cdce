//! The one clock of a run. Time is passed in, never read from elsewhere.

use std::time::Instant;

use lockstorm_checker::Nanos;

/// Monotonic time since the start of the run; a copy reads the same clock.
#[derive(Clone, Copy, Debug)]
pub struct RunClock {
    start: Instant,
}

impl RunClock {
    /// A clock that reads zero now.
    pub fn start() -> Self {
        Self {
            start: Instant::now(),
        }
    }

    /// Time since the start.
    pub fn now(self) -> Nanos {
        self.at(Instant::now())
    }

    /// Time from the start to `instant`, zero if that was before.
    pub fn at(self, instant: Instant) -> Nanos {
        let since = instant.saturating_duration_since(self.start);
        Nanos(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
    }
}

/// The wall clock in milliseconds since 1970: for algorithms that send it, never for verdicts.
pub fn wall_ms() -> u64 {
    u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap_or(0)
}

/// The wall clock in nanoseconds since 1970: what a server's clock is put wrong against.
pub fn wall_ns() -> i64 {
    i64::try_from(jiff::Timestamp::now().as_nanosecond()).unwrap_or(i64::MAX)
}

/// The wall clock as RFC 3339 in UTC, whole seconds: for names and headers, never for verdicts.
pub fn wall_clock() -> jiff::Timestamp {
    jiff::Timestamp::now()
        .round(jiff::Unit::Second)
        .unwrap_or(jiff::Timestamp::UNIX_EPOCH)
}
