//! Which lock a scenario tests.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::duration::{DurationRange, Span};
use super::era::Era;
use super::lock_kind::LockKind;
use super::lock_options::{
    Adapter, Fair, NoLock, Permits, PlainDel, Promise, Redisson, Redlock, Semaphore, Setnx, Sync,
    Token, TokenWait,
};
use super::mutant::Mutant;

/// The lock under test, as `lock.<kind> = { ... }`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Lock {
    /// No lock at all.
    #[serde(rename = "none")]
    NoLock(NoLock),
    /// SETNX, then EXPIRE, plain DEL.
    Setnx(Setnx),
    /// SET NX PX, plain DEL.
    PlainDel(PlainDel),
    /// SET NX PX with a random value, compare-and-delete.
    Token(Token),
    /// The same, and WAIT for replicas.
    TokenWait(TokenWait),
    /// The same as `token`, with a counter that gives fencing tokens.
    TokenFenced(Token),
    /// A majority of independent nodes.
    Redlock(Redlock),
    /// Redisson's `RLock`: reentrant, woken by pub/sub.
    Redisson(Redisson),
    /// Redisson's spin lock: the same scripts without pub/sub.
    RedissonSpin(Redisson),
    /// Redisson's fenced lock.
    RedissonFenced(Redisson),
    /// Redisson's fair lock.
    RedissonFair(Fair),
    /// Redisson's read-write lock.
    RedissonRw(Redisson),
    /// Redisson's `MultiLock`: one lock on all masters.
    RedissonMulti(Redisson),
    /// Redisson's `RedLock`: one lock on a majority of masters.
    RedissonRed(Redisson),
    /// Redisson's semaphore.
    RedissonSemaphore(Semaphore),
    /// Redisson's semaphore with permits that expire.
    RedissonPermits(Permits),
    /// The lock of a library, driven by a program that speaks the adapter protocol.
    Adapter(Adapter),
}

impl Lock {
    /// Without options.
    pub const fn kind(&self) -> LockKind {
        match self {
            Self::NoLock(_) => LockKind::NoLock,
            Self::Setnx(_) => LockKind::Setnx,
            Self::PlainDel(_) => LockKind::PlainDel,
            Self::Token(_) => LockKind::Token,
            Self::TokenWait(_) => LockKind::TokenWait,
            Self::TokenFenced(_) => LockKind::TokenFenced,
            Self::Redlock(_) => LockKind::Redlock,
            Self::Redisson(_) => LockKind::Redisson,
            Self::RedissonSpin(_) => LockKind::RedissonSpin,
            Self::RedissonFenced(_) => LockKind::RedissonFenced,
            Self::RedissonFair(_) => LockKind::RedissonFair,
            Self::RedissonRw(_) => LockKind::RedissonRw,
            Self::RedissonMulti(_) => LockKind::RedissonMulti,
            Self::RedissonRed(_) => LockKind::RedissonRed,
            Self::RedissonSemaphore(_) => LockKind::RedissonSemaphore,
            Self::RedissonPermits(_) => LockKind::RedissonPermits,
            Self::Adapter(_) => LockKind::Adapter,
        }
    }

    /// Time to live of a grant; `None` for a lock that never expires.
    pub fn lease(&self) -> Option<Span> {
        match self {
            Self::Setnx(setnx) => Some(setnx.lease),
            Self::PlainDel(plain) => Some(plain.lease),
            Self::Token(token) | Self::TokenFenced(token) => Some(token.lease),
            Self::TokenWait(token) => Some(token.lease),
            Self::Redlock(redlock) => Some(redlock.lease),
            Self::Redisson(redisson)
            | Self::RedissonSpin(redisson)
            | Self::RedissonFenced(redisson)
            | Self::RedissonRw(redisson)
            | Self::RedissonMulti(redisson)
            | Self::RedissonRed(redisson) => Some(redisson.time_to_live()),
            Self::RedissonFair(fair) => Some(fair.time_to_live()),
            Self::NoLock(_) | Self::RedissonSemaphore(_) => None,
            Self::RedissonPermits(permits) => Some(permits.lease),
            Self::Adapter(adapter) => Some(adapter.lease),
        }
    }

    /// What it promises beyond what every lock does, as far as somebody says.
    pub fn promises(&self) -> &[Promise] {
        match self {
            Self::Adapter(adapter) => &adapter.promises,
            Self::NoLock(_)
            | Self::Setnx(_)
            | Self::PlainDel(_)
            | Self::Token(_)
            | Self::TokenWait(_)
            | Self::TokenFenced(_)
            | Self::Redlock(_)
            | Self::Redisson(_)
            | Self::RedissonSpin(_)
            | Self::RedissonFenced(_)
            | Self::RedissonFair(_)
            | Self::RedissonRw(_)
            | Self::RedissonMulti(_)
            | Self::RedissonRed(_)
            | Self::RedissonSemaphore(_)
            | Self::RedissonPermits(_) => &[],
        }
    }

    /// How often a held lease is extended, if at all.
    pub fn renew_every(&self) -> Option<Span> {
        match self {
            Self::Setnx(setnx) => setnx.renew_every,
            Self::Token(token) | Self::TokenFenced(token) => token.renew_every,
            Self::TokenWait(token) => token.renew_every,
            Self::Redlock(redlock) => redlock.renew_every,
            Self::Redisson(redisson)
            | Self::RedissonSpin(redisson)
            | Self::RedissonFenced(redisson)
            | Self::RedissonRw(redisson)
            | Self::RedissonMulti(redisson)
            | Self::RedissonRed(redisson) => redisson.renew_every(),
            Self::RedissonFair(fair) => fair.renew_every(),
            Self::Adapter(adapter) => adapter.renew_every,
            Self::NoLock(_)
            | Self::PlainDel(_)
            | Self::RedissonSemaphore(_)
            | Self::RedissonPermits(_) => None,
        }
    }

    /// How long an answer of its program may take, beside the time that the request itself says.
    pub const fn answers_within(&self) -> Span {
        match self {
            Self::Adapter(adapter) => adapter.answers_within,
            // They try dead masters again, one after the other.
            Self::RedissonMulti(_) | Self::RedissonRed(_) => Span::from_secs(60),
            Self::NoLock(_)
            | Self::Setnx(_)
            | Self::PlainDel(_)
            | Self::Token(_)
            | Self::TokenWait(_)
            | Self::TokenFenced(_)
            | Self::Redlock(_)
            | Self::Redisson(_)
            | Self::RedissonSpin(_)
            | Self::RedissonFenced(_)
            | Self::RedissonFair(_)
            | Self::RedissonRw(_)
            | Self::RedissonSemaphore(_)
            | Self::RedissonPermits(_) => Adapter::ANSWERS_WITHIN,
        }
    }

    /// Pause between two tries of a waiting acquire, where the algorithm prescribes one; else it
    /// is for the clients to choose.
    pub const fn retry_delay(&self) -> Option<DurationRange> {
        match self {
            Self::Redlock(redlock) => Some(redlock.retry_delay),
            Self::NoLock(_)
            | Self::Setnx(_)
            | Self::PlainDel(_)
            | Self::Token(_)
            | Self::TokenWait(_)
            | Self::TokenFenced(_)
            | Self::Redisson(_)
            | Self::RedissonSpin(_)
            | Self::RedissonFenced(_)
            | Self::RedissonFair(_)
            | Self::RedissonRw(_)
            | Self::RedissonMulti(_)
            | Self::RedissonRed(_)
            | Self::RedissonSemaphore(_)
            | Self::RedissonPermits(_)
            | Self::Adapter(_) => None,
        }
    }

    /// Which replicas it asks to acknowledge a grant, where it can be asked to.
    pub fn sync(&self) -> Option<Sync> {
        match self {
            Self::Redisson(redisson)
            | Self::RedissonSpin(redisson)
            | Self::RedissonFenced(redisson)
            | Self::RedissonRw(redisson)
            | Self::RedissonMulti(redisson)
            | Self::RedissonRed(redisson) => Some(redisson.synced()),
            Self::RedissonFair(fair) => Some(fair.synced()),
            Self::NoLock(_)
            | Self::Setnx(_)
            | Self::PlainDel(_)
            | Self::Token(_)
            | Self::TokenWait(_)
            | Self::TokenFenced(_)
            | Self::Redlock(_)
            | Self::RedissonSemaphore(_)
            | Self::RedissonPermits(_)
            | Self::Adapter(_) => None,
        }
    }

    /// The Redisson that it behaves like; `None` for a lock that knows no eras.
    pub const fn era(&self) -> Option<Era> {
        match self {
            Self::Redisson(redisson)
            | Self::RedissonSpin(redisson)
            | Self::RedissonFenced(redisson)
            | Self::RedissonRw(redisson)
            | Self::RedissonMulti(redisson)
            | Self::RedissonRed(redisson) => Some(redisson.era),
            Self::RedissonFair(fair) => Some(fair.era),
            Self::NoLock(_)
            | Self::Setnx(_)
            | Self::PlainDel(_)
            | Self::Token(_)
            | Self::TokenWait(_)
            | Self::TokenFenced(_)
            | Self::Redlock(_)
            | Self::RedissonSemaphore(_)
            | Self::RedissonPermits(_)
            | Self::Adapter(_) => None,
        }
    }

    /// How many clients share one Redisson instance; one for any other lock.
    pub const fn threads(&self) -> u32 {
        match self {
            Self::Redisson(redisson)
            | Self::RedissonSpin(redisson)
            | Self::RedissonFenced(redisson)
            | Self::RedissonRw(redisson)
            | Self::RedissonMulti(redisson)
            | Self::RedissonRed(redisson) => redisson.threads,
            Self::RedissonFair(fair) => fair.threads,
            Self::NoLock(_)
            | Self::Setnx(_)
            | Self::PlainDel(_)
            | Self::Token(_)
            | Self::TokenWait(_)
            | Self::TokenFenced(_)
            | Self::Redlock(_)
            | Self::RedissonSemaphore(_)
            | Self::RedissonPermits(_)
            | Self::Adapter(_) => 1,
        }
    }

    /// How many permits it has in all; one for a mutex.
    pub const fn permits(&self) -> u32 {
        match self {
            Self::RedissonSemaphore(semaphore) => semaphore.permits,
            Self::RedissonPermits(permits) => permits.permits,
            Self::NoLock(_)
            | Self::Setnx(_)
            | Self::PlainDel(_)
            | Self::Token(_)
            | Self::TokenWait(_)
            | Self::TokenFenced(_)
            | Self::Redlock(_)
            | Self::Redisson(_)
            | Self::RedissonSpin(_)
            | Self::RedissonFenced(_)
            | Self::RedissonFair(_)
            | Self::RedissonRw(_)
            | Self::RedissonMulti(_)
            | Self::RedissonRed(_)
            | Self::Adapter(_) => 1,
        }
    }

    /// The mistake that it makes on purpose, if any.
    pub const fn mutant(&self) -> Option<Mutant> {
        match self {
            Self::NoLock(_) | Self::Adapter(_) => None,
            Self::Setnx(setnx) => setnx.mutant,
            Self::PlainDel(plain) => plain.mutant,
            Self::Token(token) | Self::TokenFenced(token) => token.mutant,
            Self::TokenWait(token) => token.mutant,
            Self::Redlock(redlock) => redlock.mutant,
            Self::Redisson(redisson)
            | Self::RedissonSpin(redisson)
            | Self::RedissonFenced(redisson)
            | Self::RedissonRw(redisson)
            | Self::RedissonMulti(redisson)
            | Self::RedissonRed(redisson) => redisson.mutant,
            Self::RedissonFair(fair) => fair.mutant,
            Self::RedissonSemaphore(semaphore) => semaphore.mutant,
            Self::RedissonPermits(permits) => permits.mutant,
        }
    }

    /// The same lock with this mistake.
    #[must_use]
    pub fn with_mutant(mut self, mutant: Mutant) -> Self {
        let place = match &mut self {
            // Nothing is done, or by others: there is nothing of ours to be done wrongly.
            Self::NoLock(_) | Self::Adapter(_) => return self,
            Self::Setnx(setnx) => &mut setnx.mutant,
            Self::PlainDel(plain) => &mut plain.mutant,
            Self::Token(token) | Self::TokenFenced(token) => &mut token.mutant,
            Self::TokenWait(token) => &mut token.mutant,
            Self::Redlock(redlock) => &mut redlock.mutant,
            Self::Redisson(redisson)
            | Self::RedissonSpin(redisson)
            | Self::RedissonFenced(redisson)
            | Self::RedissonRw(redisson)
            | Self::RedissonMulti(redisson)
            | Self::RedissonRed(redisson) => &mut redisson.mutant,
            Self::RedissonFair(fair) => &mut fair.mutant,
            Self::RedissonSemaphore(semaphore) => &mut semaphore.mutant,
            Self::RedissonPermits(permits) => &mut permits.mutant,
        };
        *place = Some(mutant);
        self
    }

    /// Whether it lives in a program of its own, so that its clients are always processes.
    pub const fn is_foreign(&self) -> bool {
        matches!(self, Self::Adapter(_))
    }

    /// How reports name it: the kind (for an adapter, the name of the library), with its era if it
    /// is not the newest, how many threads share an instance if they do, ` + renewal` where the
    /// lease is extended, and the mistake that it makes.
    pub fn label(&self) -> String {
        let mut label = match self {
            Self::Adapter(adapter) => adapter.name.clone(),
            own => own.kind().name().to_owned(),
        };
        if let Some(era) = self.era().filter(|&era| era != Era::default()) {
            label = format!("{label} {}", era.name());
        }
        if self.threads() > 1 {
            label = format!("{label} x {} threads", self.threads());
        }
        if self.renew_every().is_some() {
            label.push_str(" + renewal");
        }
        if let Some(mutant) = self.mutant() {
            label.push_str(" + mutant ");
            label.push_str(mutant.name());
        }
        label
    }
}
