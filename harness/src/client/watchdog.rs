//! Times at which a client extends its leases: all that it holds in one round, a round each period.
//!
//! Source: Redisson's watchdog, one for a client, which comes at each third of the lease. The
//! rounds are the session's, which knows what it holds: what is given back or lost is in no later
//! round, and a client that stands still or is dead renews nothing.

use std::time::Duration;

use tokio::time::Instant;

/// The times of the rounds.
#[derive(Debug)]
pub(super) struct Watchdog {
    /// From the beginning of a round to that of the next; `None`: leases are not extended.
    every: Option<Duration>,
    next: Option<Instant>,
}

impl Watchdog {
    /// Asleep.
    pub(super) const fn new(every: Option<Duration>) -> Self {
        Self { every, next: None }
    }

    /// From `now` on there is something to watch over, or a round begins: the next one is a period
    /// later. It counts from the beginning, so that a long round does not put off the next.
    pub(super) fn arm(&mut self, now: Instant) {
        self.next = self.every.map(|every| now + every);
    }

    /// Returns the time at which the next round is due, if there is to be one.
    pub(super) const fn next(&self) -> Option<Instant> {
        self.next
    }
}
