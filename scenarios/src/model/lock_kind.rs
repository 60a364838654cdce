//! The locks by name: what each is, and where it makes sense.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::era::Era;
use super::topology::TopologyKind;

/// A lock without its options.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum LockKind {
    /// See [`Lock::NoLock`](super::Lock::NoLock).
    #[serde(rename = "none")]
    NoLock,
    /// See [`Lock::Setnx`](super::Lock::Setnx).
    Setnx,
    /// See [`Lock::PlainDel`](super::Lock::PlainDel).
    PlainDel,
    /// See [`Lock::Token`](super::Lock::Token).
    Token,
    /// See [`Lock::TokenWait`](super::Lock::TokenWait).
    TokenWait,
    /// See [`Lock::TokenFenced`](super::Lock::TokenFenced).
    TokenFenced,
    /// See [`Lock::Redlock`](super::Lock::Redlock).
    Redlock,
    /// See [`Lock::Redisson`](super::Lock::Redisson).
    Redisson,
    /// See [`Lock::RedissonSpin`](super::Lock::RedissonSpin).
    RedissonSpin,
    /// See [`Lock::RedissonFenced`](super::Lock::RedissonFenced).
    RedissonFenced,
    /// See [`Lock::RedissonFair`](super::Lock::RedissonFair).
    RedissonFair,
    /// See [`Lock::RedissonRw`](super::Lock::RedissonRw).
    RedissonRw,
    /// See [`Lock::RedissonMulti`](super::Lock::RedissonMulti).
    RedissonMulti,
    /// See [`Lock::RedissonRed`](super::Lock::RedissonRed).
    RedissonRed,
    /// See [`Lock::RedissonSemaphore`](super::Lock::RedissonSemaphore).
    RedissonSemaphore,
    /// See [`Lock::RedissonPermits`](super::Lock::RedissonPermits).
    RedissonPermits,
    /// See [`Lock::Adapter`](super::Lock::Adapter).
    Adapter,
}

/// What one can say of a lock in a line.
struct Facts {
    name: &'static str,
    summary: &'static str,
}

/// Where a lock lives that is kept in one place.
const ONE_PLACE: &[TopologyKind] = &[
    TopologyKind::Single,
    TopologyKind::Replicated,
    TopologyKind::Sentinel,
    TopologyKind::Cluster,
];

/// What servers that someone else runs can be like.
const ALIKE: [TopologyKind; 3] = [
    TopologyKind::Single,
    TopologyKind::Replicated,
    TopologyKind::Independent,
];

impl LockKind {
    /// Every lock, in the order of `lockstorm list locks`.
    pub const ALL: [Self; 17] = [
        Self::NoLock,
        Self::Setnx,
        Self::PlainDel,
        Self::Token,
        Self::TokenWait,
        Self::TokenFenced,
        Self::Redlock,
        Self::Redisson,
        Self::RedissonSpin,
        Self::RedissonFenced,
        Self::RedissonFair,
        Self::RedissonRw,
        Self::RedissonMulti,
        Self::RedissonRed,
        Self::RedissonSemaphore,
        Self::RedissonPermits,
        Self::Adapter,
    ];

    /// The word used in scenario files.
    pub const fn name(self) -> &'static str {
        self.facts().name
    }

    /// Whether the lock makes sense on servers of this shape.
    pub fn supports(self, topology: TopologyKind) -> bool {
        let on = self.topologies();
        if topology == TopologyKind::External {
            // Whether it does on these is a matter of what they are like.
            return ALIKE.iter().any(|alike| on.contains(alike));
        }
        on.contains(&topology)
    }

    /// The lock that a label names, as in [`Lock::label`](super::Lock::label): its first word.
    pub fn of_label(label: &str) -> Option<Self> {
        let word = label.split(' ').next()?;
        Self::ALL.into_iter().find(|kind| kind.name() == word)
    }

    /// Whether its release frees the lock without a look at whose it is.
    pub const fn releases_blindly(self) -> bool {
        match self {
            Self::Setnx | Self::PlainDel => true,
            // No lock asks nobody, permits have no owners to compare, and of an adapter nobody
            // knows.
            Self::NoLock
            | Self::RedissonSemaphore
            | Self::RedissonPermits
            | Self::Adapter
            | Self::Token
            | Self::TokenWait
            | Self::TokenFenced
            | Self::Redlock
            | Self::Redisson
            | Self::RedissonSpin
            | Self::RedissonFenced
            | Self::RedissonFair
            | Self::RedissonRw
            | Self::RedissonMulti
            | Self::RedissonRed => false,
        }
    }

    /// Whether it is granted by a majority of masters.
    pub const fn asks_a_majority(self) -> bool {
        match self {
            Self::Redlock | Self::RedissonRed => true,
            Self::NoLock
            | Self::Setnx
            | Self::PlainDel
            | Self::Token
            | Self::TokenWait
            | Self::TokenFenced
            | Self::Redisson
            | Self::RedissonSpin
            | Self::RedissonFenced
            | Self::RedissonFair
            | Self::RedissonRw
            | Self::RedissonMulti
            | Self::RedissonSemaphore
            | Self::RedissonPermits
            | Self::Adapter => false,
        }
    }

    /// Whether its grant waits until replicas have it, or may be told to.
    pub const fn waits_for_replicas(self) -> bool {
        match self {
            Self::TokenWait
            | Self::Redisson
            | Self::RedissonSpin
            | Self::RedissonFenced
            | Self::RedissonFair
            | Self::RedissonRw
            | Self::RedissonMulti
            | Self::RedissonRed => true,
            Self::NoLock
            | Self::Setnx
            | Self::PlainDel
            | Self::Token
            | Self::TokenFenced
            | Self::Redlock
            | Self::RedissonSemaphore
            | Self::RedissonPermits
            | Self::Adapter => false,
        }
    }

    /// Whether a call gets its lease by one request to each server, sent when the call begins.
    /// Others send a second one that counts, or the same again.
    pub const fn asks_once(self) -> bool {
        match self {
            Self::NoLock
            | Self::PlainDel
            | Self::Token
            | Self::TokenWait
            | Self::TokenFenced
            | Self::Redlock => true,
            Self::Setnx
            | Self::Redisson
            | Self::RedissonSpin
            | Self::RedissonFenced
            | Self::RedissonFair
            | Self::RedissonRw
            | Self::RedissonMulti
            | Self::RedissonRed
            | Self::RedissonSemaphore
            | Self::RedissonPermits
            | Self::Adapter => false,
        }
    }

    /// The Redissons that it can behave like, the oldest first; none where all do alike.
    pub const fn eras(self) -> &'static [Era] {
        match self {
            Self::Redisson
            | Self::RedissonFair
            | Self::RedissonRw
            | Self::RedissonMulti
            | Self::RedissonRed => &[Era::V3_10, Era::V3_17, Era::V4_7],
            // It came with 3.15.0.
            Self::RedissonSpin => &[Era::V3_17, Era::V4_7],
            // It came with 3.19.0.
            Self::RedissonFenced => &[Era::V4_7],
            Self::NoLock
            | Self::Setnx
            | Self::PlainDel
            | Self::Token
            | Self::TokenWait
            | Self::TokenFenced
            | Self::Redlock
            | Self::RedissonSemaphore
            | Self::RedissonPermits
            | Self::Adapter => &[],
        }
    }

    /// Whether it knows readers, who share it.
    pub const fn has_readers(self) -> bool {
        matches!(self, Self::RedissonRw)
    }

    /// Whether its grants come with fencing tokens, or may: what an adapter gives shows in a run.
    pub const fn has_tokens(self) -> bool {
        matches!(
            self,
            Self::TokenFenced | Self::RedissonFenced | Self::Adapter
        )
    }

    /// Whether it counts permits.
    pub const fn is_semaphore(self) -> bool {
        matches!(self, Self::RedissonSemaphore | Self::RedissonPermits)
    }

    /// What it does and promises, in one line.
    pub const fn summary(self) -> &'static str {
        self.facts().summary
    }

    const fn facts(self) -> Facts {
        let (name, summary) = match self {
            Self::NoLock => (
                "none",
                "no lock at all: everybody is granted everything, and the damage shows",
            ),
            Self::Setnx => (
                "setnx",
                "SETNX then EXPIRE, plain DEL: the broken ancestor; promises little",
            ),
            Self::PlainDel => (
                "plain-del",
                "SET NX PX, plain DEL: expires, but whoever is late deletes another's lock",
            ),
            Self::Token => (
                "token",
                "SET NX PX with a random value, compare-and-delete: exclusive as long as its one \
                 server remembers",
            ),
            Self::TokenWait => (
                "token-wait",
                "token, granted only when enough replicas acknowledge it by WAIT: survives the \
                 loss of a write, not of a node's memory",
            ),
            Self::TokenFenced => (
                "token-fenced",
                "token with a counter from the same script: whoever checks it at the resource \
                 refuses a stale holder",
            ),
            Self::Redlock => (
                "redlock",
                "the Redlock algorithm: a majority of independent nodes",
            ),
            Self::Redisson => (
                "redisson",
                "Redisson's RLock: reentrant, woken by pub/sub, renewed by a watchdog unless it \
                 has a lease",
            ),
            Self::RedissonSpin => (
                "redisson-spin",
                "Redisson's spin lock: RLock without pub/sub, tries again after 1, 2, 4 ... 128 ms",
            ),
            Self::RedissonFenced => (
                "redisson-fenced",
                "Redisson's fenced lock: RLock with a token that grows with each acquire",
            ),
            Self::RedissonFair => (
                "redisson-fair",
                "Redisson's fair lock: a queue in order of arrival",
            ),
            Self::RedissonRw => (
                "redisson-rw",
                "Redisson's read-write lock: readers share, a writer is alone",
            ),
            Self::RedissonMulti => (
                "redisson-multi",
                "Redisson's MultiLock: an RLock on every master; one that is down blocks it",
            ),
            Self::RedissonRed => (
                "redisson-red",
                "Redisson's RedLock: an RLock on a majority of masters; one that is down takes \
                 seconds, and an unlock says nothing",
            ),
            Self::RedissonSemaphore => (
                "redisson-semaphore",
                "Redisson's semaphore: counts permits; nobody takes back those of the dead",
            ),
            Self::RedissonPermits => (
                "redisson-permits",
                "Redisson's semaphore with permits that expire, by the clocks of its clients",
            ),
            Self::Adapter => (
                "adapter",
                "the lock of a library, driven by a program of yours: docs/adapter-protocol.md",
            ),
        };
        Facts { name, summary }
    }

    const fn topologies(self) -> &'static [TopologyKind] {
        match self {
            Self::TokenWait => &[
                TopologyKind::Replicated,
                TopologyKind::Sentinel,
                TopologyKind::Cluster,
            ],
            Self::Redlock | Self::RedissonMulti | Self::RedissonRed => &[TopologyKind::Independent],
            Self::NoLock
            | Self::Setnx
            | Self::PlainDel
            | Self::Token
            | Self::TokenFenced
            | Self::Redisson
            | Self::RedissonSpin
            | Self::RedissonFenced
            | Self::RedissonFair
            | Self::RedissonRw
            | Self::RedissonSemaphore
            | Self::RedissonPermits => ONE_PLACE,
            // Its program says so itself where it is asked for what it cannot do.
            Self::Adapter => &TopologyKind::ALL,
        }
    }
}
