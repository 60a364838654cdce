//! The wait between two tries, and queues of waiting clients.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// Reason why a wait is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitEnd {
    /// The lock was granted.
    Granted,
    /// It was refused until the time was over, or the last try failed.
    Refused,
    /// The caller gave the wait up, as an interrupt of its thread does.
    Cancelled,
}

/// Waiting for a lock. The defaults are right for a lock that is simply asked again after a pause.
pub trait Waiting: Send {
    /// After a refusal: waits until it may be worth to ask for `key` again, but not beyond
    /// `deadline`. A lock that is told of releases waits to be told; any other takes the `pause`.
    fn await_turn(
        &mut self,
        _key: &str,
        pause: Duration,
        deadline: Instant,
    ) -> impl Future<Output = ()> + Send {
        sleep_until(deadline.min(Instant::now() + pause))
    }

    /// True if waiting clients stand in a queue, so that all tries of a wait belong together.
    fn has_queue(&self) -> bool {
        false
    }

    /// True if the last try for `key` took a place in a queue that it did not have before.
    fn queued(&mut self, _key: &str) -> bool {
        false
    }

    /// Ends the wait for `key`: the lock can drop what it kept for waiting.
    fn end_wait(&mut self, _key: &str, _end: WaitEnd) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }

    /// After a wait for `key` that ended without the lock: the reason why nobody knows whether it
    /// was granted all the same, if that is so; once.
    fn doubt(&mut self, _key: &str) -> Option<String> {
        None
    }

    /// True if an acquire waits by itself for as long as it is asked to.
    fn waits(&self) -> bool {
        false
    }
}
