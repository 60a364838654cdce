//! What can be set of each lock.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::duration::{DurationRange, Span};
use super::era::Era;
use super::mutant::Mutant;

/// Options of [`Lock::NoLock`](super::Lock::NoLock): there are none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct NoLock {}

/// Options of [`Lock::Setnx`](super::Lock::Setnx).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Setnx {
    /// Time to live set by the second command; whole seconds, for EXPIRE knows no smaller unit.
    #[serde(default = "default_lease")]
    pub lease: Span,
    /// Extend the lease this often while the lock is held; absent means never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renew_every: Option<Span>,
    /// A mistake to make on purpose, one of `lockstorm list mutants` for this lock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutant: Option<Mutant>,
}

/// Options of [`Lock::PlainDel`](super::Lock::PlainDel).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PlainDel {
    /// Time to live of the key.
    #[serde(default = "default_lease")]
    pub lease: Span,
    /// A mistake to make on purpose, one of `lockstorm list mutants` for this lock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutant: Option<Mutant>,
}

/// Options of [`Lock::Token`](super::Lock::Token) and of the same with fencing tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Token {
    /// Time to live of the key.
    #[serde(default = "default_lease")]
    pub lease: Span,
    /// Extend the lease this often while the lock is held; absent means never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renew_every: Option<Span>,
    /// A mistake to make on purpose, one of `lockstorm list mutants` for this lock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutant: Option<Mutant>,
}

/// Options of [`Lock::TokenWait`](super::Lock::TokenWait).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TokenWait {
    /// Time to live of the key.
    #[serde(default = "default_lease")]
    pub lease: Span,
    /// Extend the lease this often while the lock is held; absent means never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renew_every: Option<Span>,
    /// How many replicas must acknowledge a grant; without them it is withdrawn.
    #[serde(default = "default_replicas")]
    pub replicas: u32,
    /// How long they may take.
    #[serde(default = "default_sync_timeout")]
    pub sync_timeout: Span,
    /// A mistake to make on purpose, one of `lockstorm list mutants` for this lock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutant: Option<Mutant>,
}

/// Options of [`Lock::Redlock`](super::Lock::Redlock).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Redlock {
    /// Time to live of the key on each node.
    #[serde(default = "default_lease")]
    pub lease: Span,
    /// Extend the lease this often while the lock is held; absent means never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renew_every: Option<Span>,
    /// How long one node may take to answer; far below the lease.
    #[serde(default = "default_node_timeout")]
    pub node_timeout: Span,
    /// Pause between two tries of a waiting acquire, drawn at random from this range.
    #[serde(default = "default_retry_delay")]
    pub retry_delay: DurationRange,
    /// A mistake to make on purpose, one of `lockstorm list mutants` for this lock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutant: Option<Mutant>,
}

/// Options of Redisson's locks on a hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Redisson {
    /// Time to live of a grant; absent means that the watchdog keeps it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<Span>,
    /// Time to live that the watchdog sets, at a third of it (`lockWatchdogTimeout`).
    #[serde(default = "default_watchdog")]
    pub watchdog: Span,
    /// Which replicas must acknowledge (`checkLockSyncedSlaves`); absent means what its era does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync: Option<Sync>,
    /// How long they may take (`slavesSyncTimeout`).
    #[serde(default = "default_sync_timeout")]
    pub sync_timeout: Span,
    /// The Redisson that it behaves like.
    #[serde(default)]
    pub era: Era,
    /// How many clients share one Redisson instance, each a thread of it (`RedissonClient`).
    #[serde(default = "default_threads")]
    pub threads: u32,
    /// A mistake to make on purpose, one of `lockstorm list mutants` for this lock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutant: Option<Mutant>,
}

/// Options of [`Lock::RedissonFair`](super::Lock::RedissonFair).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Fair {
    /// Time to live of a grant; absent means that the watchdog keeps it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<Span>,
    /// Time to live that the watchdog sets, at a third of it (`lockWatchdogTimeout`).
    #[serde(default = "default_watchdog")]
    pub watchdog: Span,
    /// Which replicas must acknowledge (`checkLockSyncedSlaves`); absent means what its era does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync: Option<Sync>,
    /// How long they may take (`slavesSyncTimeout`).
    #[serde(default = "default_sync_timeout")]
    pub sync_timeout: Span,
    /// After how long a waiter is presumed dead (`fairLockWaitTimeout`); absent means after the
    /// time that it is ready to wait, or as its era.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fair_wait: Option<Span>,
    /// The Redisson that it behaves like.
    #[serde(default)]
    pub era: Era,
    /// How many clients share one Redisson instance, each a thread of it (`RedissonClient`).
    #[serde(default = "default_threads")]
    pub threads: u32,
    /// A mistake to make on purpose, one of `lockstorm list mutants` for this lock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutant: Option<Mutant>,
}

/// Options of [`Lock::RedissonSemaphore`](super::Lock::RedissonSemaphore).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Semaphore {
    /// How many permits there are.
    #[serde(default = "default_permits")]
    pub permits: u32,
    /// A mistake to make on purpose, one of `lockstorm list mutants` for this lock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutant: Option<Mutant>,
}

/// Options of [`Lock::Adapter`](super::Lock::Adapter).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Adapter {
    /// How reports name the lock, such as `redis-py`.
    pub name: String,
    /// The program and its arguments; it is started once for each client, in the folder from which
    /// Lockstorm was started.
    pub command: Vec<String>,
    /// Time to live of a grant.
    #[serde(default = "default_lease")]
    pub lease: Span,
    /// Extend the lease this often while the lock is held; absent means never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renew_every: Option<Span>,
    /// How long any of its answers may take, beside the time that the request itself says: longer
    /// than the library tries again where a server is away.
    #[serde(default = "default_answers_within")]
    pub answers_within: Span,
    /// What the library promises beyond what every lock does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub promises: Vec<Promise>,
}

/// What a library may promise its users beyond what every lock does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Promise {
    /// A holder is told within one lease that it has lost the lock.
    TellsOfLoss,
}

impl Promise {
    /// Its name in scenarios and in the headers of histories.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TellsOfLoss => "tells-of-loss",
        }
    }
}

/// Options of [`Lock::RedissonPermits`](super::Lock::RedissonPermits).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Permits {
    /// How many permits there are.
    #[serde(default = "default_permits")]
    pub permits: u32,
    /// After how long a permit may be taken back.
    #[serde(default = "default_lease")]
    pub lease: Span,
    /// A mistake to make on purpose, one of `lockstorm list mutants` for this lock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutant: Option<Mutant>,
}

/// Which replicas must acknowledge a grant before it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sync {
    /// None is asked.
    Off,
    /// One is enough, as in Redisson from 3.18 on; without replicas none is needed.
    Any,
    /// Every one, as in Redisson 3.17.
    All,
}

impl Adapter {
    /// How long any of its answers may take unless the scenario says: far above the time that a
    /// library gives a server, unless it tries again and again.
    pub const ANSWERS_WITHIN: Span = Span::from_secs(10);
}

impl Redisson {
    /// Which replicas must acknowledge a grant, chosen or by its era.
    pub fn synced(&self) -> Sync {
        self.sync.unwrap_or(self.era.sync())
    }

    /// Time to live that a grant gets.
    pub fn time_to_live(&self) -> Span {
        self.lease.unwrap_or(self.watchdog)
    }

    /// How often the watchdog comes; never where there is a lease.
    pub fn renew_every(&self) -> Option<Span> {
        watch(self.lease, self.watchdog)
    }
}

impl Fair {
    /// Which replicas must acknowledge a grant, chosen or by its era.
    pub fn synced(&self) -> Sync {
        self.sync.unwrap_or(self.era.sync())
    }

    /// After how long who is ready to wait for `wait` is presumed dead: chosen, or by its era.
    pub fn presumed_dead_after(&self, wait: Option<Span>) -> Span {
        let own = wait.filter(|wait| *wait > Span::default() && self.era.heeds_waits());
        self.fair_wait.or(own).unwrap_or(self.era.fair_wait())
    }

    /// Time to live that a grant gets.
    pub fn time_to_live(&self) -> Span {
        self.lease.unwrap_or(self.watchdog)
    }

    /// How often the watchdog comes; never where there is a lease.
    pub fn renew_every(&self) -> Option<Span> {
        watch(self.lease, self.watchdog)
    }
}

fn watch(lease: Option<Span>, watchdog: Span) -> Option<Span> {
    lease
        .is_none()
        .then(|| Span::from_millis(watchdog.as_millis() / 3))
}

const fn default_answers_within() -> Span {
    Adapter::ANSWERS_WITHIN
}

const fn default_lease() -> Span {
    Span::from_secs(2)
}

const fn default_watchdog() -> Span {
    Span::from_secs(30)
}

const fn default_sync_timeout() -> Span {
    Span::from_secs(1)
}

const fn default_replicas() -> u32 {
    1
}

/// A client that dies takes only itself along.
const fn default_threads() -> u32 {
    1
}

const fn default_permits() -> u32 {
    2
}

const fn default_node_timeout() -> Span {
    Span::from_millis(50)
}

const fn default_retry_delay() -> DurationRange {
    DurationRange::from_millis(10, 50)
}
