//! The lock that a scenario names.

use lockstorm_scenarios as scenarios;

use super::lock::{Grant, Lock, LockContext, Outcome};
use super::redlock::Redlock;
use super::setnx::Setnx;
use super::token::Token;

/// Any of the locks.
///
/// An enum rather than a trait object: the futures of a boxed lock are allocated for each call,
/// and that alone cost a tenth of the cycles that the server can do.
#[expect(clippy::large_enum_variant, reason = "there is one to a client")]
pub enum AnyLock {
    /// See [`Setnx`].
    Setnx(Setnx),
    /// See [`Token`].
    Token(Token),
    /// See [`Redlock`].
    Redlock(Redlock),
}

impl AnyLock {
    /// One client's side of the lock that `spec` names.
    pub fn new(spec: &scenarios::Lock, context: LockContext) -> Self {
        match spec {
            scenarios::Lock::Setnx(setnx) => Self::Setnx(Setnx::new(setnx, context)),
            scenarios::Lock::Token(token) => Self::Token(Token::new(token, context)),
            scenarios::Lock::Redlock(redlock) => Self::Redlock(Redlock::new(redlock, context)),
        }
    }
}

impl Lock for AnyLock {
    async fn acquire(&mut self, key: &str) -> Outcome<Grant> {
        match self {
            Self::Setnx(lock) => lock.acquire(key).await,
            Self::Token(lock) => lock.acquire(key).await,
            Self::Redlock(lock) => lock.acquire(key).await,
        }
    }

    async fn renew(&mut self, key: &str) -> Outcome<Grant> {
        match self {
            Self::Setnx(lock) => lock.renew(key).await,
            Self::Token(lock) => lock.renew(key).await,
            Self::Redlock(lock) => lock.renew(key).await,
        }
    }

    async fn release(&mut self, key: &str) -> Outcome<()> {
        match self {
            Self::Setnx(lock) => lock.release(key).await,
            Self::Token(lock) => lock.release(key).await,
            Self::Redlock(lock) => lock.release(key).await,
        }
    }
}
