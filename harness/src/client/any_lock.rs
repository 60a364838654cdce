//! The lock that a scenario names.

use std::time::Duration;

use lockstorm_checker::Nanos;
use lockstorm_checker::history::Name;
use lockstorm_scenarios::Lock as Spec;
use tokio::time::Instant;

use crate::adapter::Remote;
use crate::locks::{
    Ask, Grant, Lock, LockContext, Loss, NoLock, Outcome, PlainDel, Redisson, RedissonFair,
    RedissonMulti, RedissonPermits, RedissonReadWrite, RedissonSemaphore, Redlock, Released, Setnx,
    Share, Token, TokenFenced, TokenWait, Waking,
};

/// Any of the locks.
///
/// An enum rather than a trait object: the futures of a boxed lock are allocated for each call,
/// and that alone cost a tenth of the cycles that the server can do.
#[expect(clippy::large_enum_variant, reason = "there is one to a client")]
pub enum AnyLock {
    /// See [`NoLock`].
    NoLock(NoLock),
    /// See [`Setnx`].
    Setnx(Setnx),
    /// See [`PlainDel`].
    PlainDel(PlainDel),
    /// See [`Token`].
    Token(Token),
    /// See [`TokenWait`].
    TokenWait(TokenWait),
    /// See [`TokenFenced`].
    TokenFenced(TokenFenced),
    /// See [`Redlock`].
    Redlock(Redlock),
    /// See [`Redisson`].
    Redisson(Redisson),
    /// See [`RedissonFair`].
    RedissonFair(RedissonFair),
    /// See [`RedissonReadWrite`].
    RedissonReadWrite(RedissonReadWrite),
    /// See [`RedissonSemaphore`].
    RedissonSemaphore(RedissonSemaphore),
    /// See [`RedissonPermits`].
    RedissonPermits(RedissonPermits),
    /// See [`RedissonMulti`].
    RedissonMulti(RedissonMulti),
    /// Any of them, or the lock of a library, in a process of its own: see [`Remote`].
    Remote(Box<Remote>),
}

/// Calls the same method on whatever lock it is.
macro_rules! each {
    ($any:expr, $lock:ident => $call:expr) => {
        match $any {
            AnyLock::NoLock($lock) => $call,
            AnyLock::Setnx($lock) => $call,
            AnyLock::PlainDel($lock) => $call,
            AnyLock::Token($lock) => $call,
            AnyLock::TokenWait($lock) => $call,
            AnyLock::TokenFenced($lock) => $call,
            AnyLock::Redlock($lock) => $call,
            AnyLock::Redisson($lock) => $call,
            AnyLock::RedissonFair($lock) => $call,
            AnyLock::RedissonReadWrite($lock) => $call,
            AnyLock::RedissonSemaphore($lock) => $call,
            AnyLock::RedissonPermits($lock) => $call,
            AnyLock::RedissonMulti($lock) => $call,
            AnyLock::Remote($lock) => $call,
        }
    };
}

impl AnyLock {
    /// One client's side of the lock that `spec` names; `None` where it is a library's, which only
    /// its adapter has.
    pub fn new(spec: &Spec, context: LockContext) -> Option<Self> {
        let lock = match spec {
            Spec::Adapter(_) => return None,
            Spec::NoLock(_) => Self::NoLock(NoLock),
            Spec::Setnx(spec) => Self::Setnx(Setnx::new(spec, context)),
            Spec::PlainDel(spec) => Self::PlainDel(PlainDel::new(spec, context)),
            Spec::Token(spec) => Self::Token(Token::new(spec, context)),
            Spec::TokenWait(spec) => Self::TokenWait(TokenWait::new(spec, context)),
            Spec::TokenFenced(spec) => Self::TokenFenced(TokenFenced::new(spec, context)),
            Spec::Redlock(spec) => Self::Redlock(Redlock::new(spec, context)),
            Spec::Redisson(spec) => Self::Redisson(Redisson::new(spec, Waking::Told, context)),
            Spec::RedissonSpin(spec) => {
                Self::Redisson(Redisson::new(spec, Waking::Spinning, context))
            }
            Spec::RedissonFenced(spec) => {
                Self::Redisson(Redisson::new(spec, Waking::Told, context).fenced())
            }
            Spec::RedissonFair(spec) => Self::RedissonFair(RedissonFair::new(spec, context)),
            Spec::RedissonRw(spec) => {
                Self::RedissonReadWrite(RedissonReadWrite::new(spec, context))
            }
            Spec::RedissonSemaphore(spec) => {
                Self::RedissonSemaphore(RedissonSemaphore::new(spec, context))
            }
            Spec::RedissonMulti(spec) => {
                Self::RedissonMulti(RedissonMulti::new(spec, Share::All, context))
            }
            Spec::RedissonRed(spec) => {
                Self::RedissonMulti(RedissonMulti::new(spec, Share::Majority, context))
            }
            Spec::RedissonPermits(spec) => {
                Self::RedissonPermits(RedissonPermits::new(spec, context))
            }
        };
        Some(lock)
    }
}

impl Lock for AnyLock {
    async fn acquire(&mut self, key: &str, ask: Ask) -> Outcome<Grant> {
        each!(self, lock => lock.acquire(key, ask).await)
    }

    async fn renew(&mut self, key: &str, ask: Ask) -> Outcome<Grant> {
        each!(self, lock => lock.renew(key, ask).await)
    }

    fn renewal_batch(&self) -> usize {
        each!(self, lock => lock.renewal_batch())
    }

    async fn renew_batch(&mut self, leases: &[(Name, Ask)]) -> Vec<Outcome<Grant>> {
        each!(self, lock => lock.renew_batch(leases).await)
    }

    async fn release(&mut self, key: &str, ask: Ask) -> Outcome<Released> {
        each!(self, lock => lock.release(key, ask).await)
    }

    async fn await_turn(&mut self, key: &str, pause: Duration, deadline: Instant) {
        each!(self, lock => lock.await_turn(key, pause, deadline).await);
    }

    fn has_queue(&self) -> bool {
        each!(self, lock => lock.has_queue())
    }

    fn queued(&mut self, key: &str) -> bool {
        each!(self, lock => lock.queued(key))
    }

    async fn end_wait(&mut self, key: &str, granted: bool) {
        each!(self, lock => lock.end_wait(key, granted).await);
    }

    fn waits(&self) -> bool {
        each!(self, lock => lock.waits())
    }

    async fn touch(&mut self, key: &str) -> Outcome<()> {
        each!(self, lock => lock.touch(key).await)
    }

    async fn alive(&mut self, key: &str, ask: Ask) -> Outcome<()> {
        each!(self, lock => lock.alive(key, ask).await)
    }

    fn granted_by(&self) -> Vec<Name> {
        each!(self, lock => lock.granted_by())
    }

    fn marks(&self, key: &str) -> Vec<String> {
        each!(self, lock => lock.marks(key))
    }

    fn answered(&mut self) -> Option<Nanos> {
        each!(self, lock => lock.answered())
    }

    fn lost(&mut self) -> Vec<Loss> {
        each!(self, lock => lock.lost())
    }
}
