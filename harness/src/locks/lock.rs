//! What every lock can do.

use std::sync::Arc;
use std::time::Duration;

use lockstorm_checker::Nanos;
use lockstorm_checker::history::{Mode, Name};
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use tokio::time::{Instant, sleep_until};

use super::redisson::SharedInstance;
use crate::connection::{CallError, Dialer, Route};

/// One client's side of a lock. Each call is one try: nothing is repeated inside.
pub trait Lock: Send {
    /// Asks for `key`; denied means that another holds it.
    fn acquire(
        &mut self,
        key: &str,
        ask: LockRequest,
    ) -> impl Future<Output = Outcome<Grant>> + Send;

    /// Extends the lease of `key`; denied means that this client does not hold it.
    fn renew(&mut self, key: &str, ask: LockRequest)
    -> impl Future<Output = Outcome<Grant>> + Send;

    /// How many leases `renew_batch` takes at most.
    fn renewal_batch(&self) -> usize {
        1
    }

    /// Extends several leases; gives an outcome for each, in order.
    fn renew_batch(
        &mut self,
        leases: &[(Name, LockRequest)],
    ) -> impl Future<Output = Vec<Outcome<Grant>>> + Send {
        async move {
            let mut outcomes = Vec::with_capacity(leases.len());
            for (key, ask) in leases {
                outcomes.push(self.renew(key, *ask).await);
            }
            outcomes
        }
    }

    /// Gives `key` back; denied means that this client did not hold it.
    fn release(
        &mut self,
        key: &str,
        ask: LockRequest,
    ) -> impl Future<Output = Outcome<Released>> + Send;

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

    /// Whether waiting clients stand in a queue, so that all tries of a wait belong together.
    fn has_queue(&self) -> bool {
        false
    }

    /// Whether the last try for `key` took a place in a queue that it did not have before.
    fn queued(&mut self, _key: &str) -> bool {
        false
    }

    /// The client has been granted `key`, or waits for it no more: whatever it kept for waiting can
    /// go.
    fn end_wait(&mut self, _key: &str, _granted: bool) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }

    /// Whether an acquire waits by itself for as long as it is asked to.
    fn waits(&self) -> bool {
        false
    }

    /// The client is about to change what `key` guards: done means that it is there to do so. A
    /// client that is a task is wherever the harness is.
    fn touch(&mut self, _key: &str) -> impl Future<Output = Outcome<()>> + Send {
        std::future::ready(Outcome::Done(()))
    }

    /// Whether the client goes on as the holder of `key`; denied means that it was told otherwise.
    fn alive(&mut self, _key: &str, _ask: LockRequest) -> impl Future<Output = Outcome<()>> + Send {
        std::future::ready(Outcome::Done(()))
    }

    /// The servers that gave the last grant, by name: the one that was asked, or those of a quorum
    /// that said yes. Empty where nobody knows.
    fn granted_by(&self) -> Vec<Name>;

    /// By what the servers know that this client holds `key`, or may hold it: what stands at the
    /// key, or a field of it. Empty where that is its name, or not known.
    fn marks(&self, _key: &str) -> Vec<String> {
        Vec::new()
    }

    /// When the last outcome was known, where that was before now; asked once.
    fn answered(&mut self) -> Option<Nanos> {
        None
    }

    /// What the client was told, without asking, that it has lost; each once.
    fn lost(&mut self) -> Vec<Loss> {
        Vec::new()
    }
}

/// How a lock is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockRequest {
    /// Alone, or with other readers.
    pub mode: Mode,
    /// How many permits of a semaphore.
    pub permits: u32,
    /// How long the client is ready to wait in all; `None` for one try.
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

/// What is granted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grant {
    /// From the sending of the request on, the lock is kept for this long; `None`: for ever.
    pub lease: Option<Duration>,
    /// Fencing token.
    pub token: Option<u64>,
    /// How long after the first try the one that was granted was sent.
    pub waited: Duration,
}

impl Grant {
    /// For `lease`, without a token.
    pub const fn of(lease: Duration) -> Self {
        Self {
            lease: Some(lease),
            token: None,
            waited: Duration::ZERO,
        }
    }
}

/// What a release leaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Released {
    /// How often the client holds the lock now, where the reply says so; 0 means that it is free.
    pub count: Option<u32>,
}

/// What came of one call.
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

/// A lock that a client was told it has lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Which lock.
    pub key: Name,
    /// How it was held.
    pub mode: Mode,
    /// Not after the client was told; `None` where the answer to a renewal has told it.
    pub noticed: Option<Nanos>,
}

/// What a lock needs of its surroundings.
pub struct LockContext {
    /// Name of the client.
    pub client: String,
    /// How to open connections.
    pub dialer: Dialer,
    /// Which servers to talk to.
    pub route: Arc<Route>,
    /// The Redisson instance that the client is a thread of; a new one is for it alone. Locks that
    /// are not Redisson's have no use for it.
    pub instance: SharedInstance,
    /// Where random values come from.
    pub rng: ChaCha8Rng,
}

/// A value that no other client has: 16 random bytes in hexadecimal.
pub fn random_value(rng: &mut ChaCha8Rng) -> String {
    format!("{:032x}", rng.random::<u128>())
}
