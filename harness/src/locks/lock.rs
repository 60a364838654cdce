//! What every lock can do.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use lockstorm_scenarios as scenarios;
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

use super::redlock::Redlock;
use super::setnx::Setnx;
use super::token::Token;
use crate::client::{CallError, Dialer};
use crate::server::Route;

/// One client's side of a lock. Each call is one try: nothing is repeated inside.
#[async_trait]
pub trait Lock: Send + Sync {
    /// Asks for `key`; denied means that another holds it.
    async fn acquire(&mut self, key: &str) -> Outcome<Grant>;

    /// Extends the lease of `key`; denied means that this client does not hold it.
    async fn renew(&mut self, key: &str) -> Outcome<Grant>;

    /// Gives `key` back; denied means that this client did not hold it.
    async fn release(&mut self, key: &str) -> Outcome<()>;
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

/// The lock that a scenario names.
pub fn build(spec: &scenarios::Lock, context: LockContext) -> Box<dyn Lock> {
    match spec {
        scenarios::Lock::Setnx(setnx) => Box::new(Setnx::new(setnx, context)),
        scenarios::Lock::Token(token) => Box::new(Token::new(token, context)),
        scenarios::Lock::Redlock(redlock) => Box::new(Redlock::new(redlock, context)),
    }
}

/// A value that no other client has: 16 random bytes in hexadecimal.
pub fn random_value(rng: &mut ChaCha8Rng) -> String {
    format!("{:032x}", rng.random::<u128>())
}
