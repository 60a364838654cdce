//! What every lock can do.

use std::sync::Arc;
use std::time::Duration;

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

use crate::client::{CallError, Dialer};
use crate::server::Route;

/// One client's side of a lock. Each call is one try: nothing is repeated inside.
pub trait Lock: Send {
    /// Asks for `key`; denied means that another holds it.
    fn acquire(&mut self, key: &str) -> impl Future<Output = Outcome<Grant>> + Send;

    /// Extends the lease of `key`; denied means that this client does not hold it.
    fn renew(&mut self, key: &str) -> impl Future<Output = Outcome<Grant>> + Send;

    /// Gives `key` back; denied means that this client did not hold it.
    fn release(&mut self, key: &str) -> impl Future<Output = Outcome<()>> + Send;
}

/// What is granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// From the sending of the request on, the lock is kept for this long.
    pub lease: Duration,
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

impl<T> From<CallError> for Outcome<T> {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Failed(text) => Self::Failed(text),
            CallError::Unknown(text) => Self::Unknown(text),
            CallError::Killed => Self::Killed,
        }
    }
}

/// What a lock needs of its surroundings.
pub struct LockContext {
    /// Name of the client.
    pub client: String,
    /// How to open connections.
    pub dialer: Dialer,
    /// Which servers to talk to.
    pub route: Arc<Route>,
    /// Where random values come from.
    pub rng: ChaCha8Rng,
}

/// A value that no other client has: 16 random bytes in hexadecimal.
pub fn random_value(rng: &mut ChaCha8Rng) -> String {
    format!("{:032x}", rng.random::<u128>())
}
