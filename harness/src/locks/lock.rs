//! A lock, in three calls, and what comes of each.

use std::time::Duration;

use lockstorm_checker::history::Mode;

use crate::connection::CallError;

/// One client's side of a lock. Each call is one try: nothing is repeated inside, but what the
/// library that it stands for sends again by itself.
pub trait Lock: Send {
    /// Opens the connections that its library opens before anybody asks for anything. One that
    /// cannot be had now is opened when it is needed.
    fn connect(&mut self) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }

    /// Asks for `key`; denied means that another holds it.
    fn acquire(
        &mut self,
        key: &str,
        ask: LockRequest,
    ) -> impl Future<Output = Outcome<Grant>> + Send;

    /// Extends the lease of `key`; denied means that this client does not hold it.
    fn renew(&mut self, key: &str, ask: LockRequest)
    -> impl Future<Output = Outcome<Grant>> + Send;

    /// Gives `key` back; denied means that this client did not hold it.
    fn release(
        &mut self,
        key: &str,
        ask: LockRequest,
    ) -> impl Future<Output = Outcome<Released>> + Send;
}

/// Request for a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockRequest {
    /// Alone, or with other readers.
    pub mode: Mode,
    /// Number of permits of a semaphore.
    pub permits: u32,
    /// Time for which the client is ready to wait in all; `None` for one try.
    pub wait: Option<Duration>,
}

impl Default for LockRequest {
    /// One try for all of the lock.
    fn default() -> Self {
        Self {
            mode: Mode::Write,
            permits: 1,
            wait: None,
        }
    }
}

/// Terms of a grant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grant {
    /// From the sending of the request on, the lock is kept for this long; `None`: until it is
    /// given back.
    pub lease: Option<Duration>,
    /// `true` if the lock goes with the session in which it was granted: with a lease, that is what
    /// the holder may rely on, and the servers keep the lock as long as the session.
    pub is_of_session: bool,
    /// Fencing token.
    pub token: Option<u64>,
    /// Time from the first try to the sending of the one that was granted.
    pub waited: Duration,
}

impl Grant {
    /// As long as its session, on which the holder may rely for `lease`; without a token.
    pub const fn in_session(lease: Duration) -> Self {
        Self {
            is_of_session: true,
            ..Self::of(lease)
        }
    }

    /// For `lease`, without a token.
    pub const fn of(lease: Duration) -> Self {
        Self {
            lease: Some(lease),
            is_of_session: false,
            token: None,
            waited: Duration::ZERO,
        }
    }
}

/// State that a release leaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Released {
    /// How often the client holds the lock now, where the reply says so; 0 means that it is free.
    pub count: Option<u32>,
    /// `true` if the library says nothing of who held the lock.
    pub is_ownership_open: bool,
}

impl Released {
    /// Given back by its owner, who holds it so often now, where the reply says so.
    pub const fn leaving(count: Option<u32>) -> Self {
        Self {
            count,
            is_ownership_open: false,
        }
    }
}

/// Outcome of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome<T> {
    /// It took effect.
    Done(T),
    /// The servers answered no.
    Denied,
    /// The servers answered an error: it certainly had no effect.
    Failed(String),
    /// Nobody knows: it may have an effect, now or later.
    Unknown(String),
    /// The client died in the middle.
    Killed,
}

impl<T> Outcome<T> {
    /// Of a reply that makes no sense here: nobody knows what the server did.
    pub fn odd(reply: &redis::Value) -> Self {
        Self::Unknown(format!("a reply that makes no sense here: {reply:?}"))
    }
}

impl<T> From<CallError> for Outcome<T> {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Failed(text) => Self::Failed(text),
            CallError::Unknown(text) => Self::Unknown(text),
            CallError::Killed => Self::Killed,
        }
    }
}
