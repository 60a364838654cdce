//! One event of a history: something was invoked, answered, or observed.

use std::fmt;
use std::ops::{Add, Sub};
use std::sync::Arc;

use serde_json::{Map, Value as Json};

use super::fault::FaultNote;
use super::giver::Givers;
use super::note::{
    CommandNote, ExpiredNote, FailureNote, PhaseNote, RoleNote, RouteNote, StallNote, ViewNote,
};

/// A shared, immutable name: a lock key, an owner, a resource.
pub type Name = Arc<str>;

/// Nanoseconds of one monotonic clock since the start of the run.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(transparent)]
pub struct Nanos(pub u64);

impl Nanos {
    /// Later than every recorded instant: the end of an interval that never closed.
    pub const MAX: Self = Self(u64::MAX);

    /// `ms` milliseconds; saturates.
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms.saturating_mul(1_000_000))
    }

    /// Seconds, for people and plots.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// This instant moved back by `other`, not below zero.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add for Nanos {
    type Output = Self;

    /// Saturates at [`Nanos::MAX`], which therefore stays "never".
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Nanos {
    type Output = Self;

    /// Saturates at zero.
    fn sub(self, other: Self) -> Self {
        self.saturating_sub(other)
    }
}

/// Kind of an event: what it says of its operation.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The operation was sent.
    Invoke,
    /// The server answered: it took effect.
    Ok,
    /// The server answered: it had no effect. Only a server's reply can make one.
    Fail,
    /// Indeterminate: it may take effect at any later time, or never.
    Info,
    /// A point observation, not part of an operation.
    Note,
}

/// Process that an event belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Process {
    /// A logical single-threaded process; never invokes again after an `info`.
    Client(u64),
    /// The part that breaks things.
    Nemesis,
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Client(id) => write!(f, "{id}"),
            Self::Nemesis => f.write_str("nemesis"),
        }
    }
}

/// The operation (or, for a [`Kind::Note`], the observation) that an event is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Function {
    /// Ask for the lock.
    Acquire,
    /// Extend the lease of a hold.
    Renew,
    /// Give the lock back.
    Release,
    /// Note: the doorway of a fair lock was passed.
    Queued,
    /// Note: the client was told that it lost the lock.
    Lost,
    /// Note: the client was told that nobody knows whether it holds the lock.
    Suspended,
    /// Note: the client was told that it held the lock while nobody knew.
    Resumed,
    /// Note: the client's session has ended, with all that it held by it.
    Ended,
    /// Note: the client is known to be alive at this instant.
    Alive,
    /// Note: the client's commands go to another server from here on, or to the same again, see
    /// [`RouteNote`].
    Routed,
    /// Note: a server became a primary or a replica, see [`RoleNote`].
    Role,
    /// Note: what the servers know of a lock, see [`ViewNote`].
    View,
    /// Note: what a server was told to do with a lock, see [`CommandNote`].
    Command,
    /// Note: the client hung or crashed, see [`FailureNote`].
    Failure,
    /// Note: a server ended leases whose time was over, see [`ExpiredNote`].
    Expired,
    /// Note: whoever recorded the history stood still, see [`StallNote`].
    Stall,
    /// Note of the nemesis: a fault's life cycle, see [`FaultNote`].
    Fault,
    /// Note of the nemesis: the run entered a phase, see [`PhaseNote`].
    Phase,
    /// Read the guarded resource.
    Read,
    /// Write the guarded resource.
    Write,
    /// Compare-and-set on the guarded resource.
    Cas,
    /// Append to the guarded resource.
    Append,
    /// A function that this version does not know; kept as it stands.
    Other(Name),
}

impl Function {
    /// The word used in histories.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Acquire => "acquire",
            Self::Renew => "renew",
            Self::Release => "release",
            Self::Queued => "queued",
            Self::Lost => "lost",
            Self::Suspended => "suspended",
            Self::Resumed => "resumed",
            Self::Ended => "ended",
            Self::Alive => "alive",
            Self::Routed => "routed",
            Self::Role => "role",
            Self::View => "view",
            Self::Command => "command",
            Self::Failure => "failure",
            Self::Expired => "expired",
            Self::Stall => "stall",
            Self::Fault => "fault",
            Self::Phase => "phase",
            Self::Read => "read",
            Self::Write => "write",
            Self::Cas => "cas",
            Self::Append => "append",
            Self::Other(word) => word,
        }
    }
}

impl From<&str> for Function {
    fn from(word: &str) -> Self {
        match word {
            "acquire" => Self::Acquire,
            "renew" => Self::Renew,
            "release" => Self::Release,
            "queued" => Self::Queued,
            "lost" => Self::Lost,
            "suspended" => Self::Suspended,
            "resumed" => Self::Resumed,
            "ended" => Self::Ended,
            "alive" => Self::Alive,
            "routed" => Self::Routed,
            "role" => Self::Role,
            "view" => Self::View,
            "command" => Self::Command,
            "failure" => Self::Failure,
            "expired" => Self::Expired,
            "stall" => Self::Stall,
            "fault" => Self::Fault,
            "phase" => Self::Phase,
            "read" => Self::Read,
            "write" => Self::Write,
            "cas" => Self::Cas,
            "append" => Self::Append,
            other => Self::Other(other.into()),
        }
    }
}

/// Way in which a hold shares the lock.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Alone.
    #[default]
    Write,
    /// With other readers.
    Read,
}

/// Answer that a release leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ownership {
    /// The caller does not hold the lock any more; whether it did until then, nobody says.
    Unknown,
}

/// End that the service puts to a hold, beside a lease or in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Until {
    /// That of the session of its owner, as of a connection to a database.
    SessionEnd,
}

/// Content of an event: what an operation asks for, or what its reply carries. Absent fields take
/// their defaults.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Value {
    /// Owner that holds or asks; absent means the process itself.
    pub owner: Option<Name>,
    /// Shared or alone; absent means alone.
    pub mode: Option<Mode>,
    /// Permits of a semaphore; absent means one.
    pub permits: Option<u32>,
    /// Lease asked for or granted, in milliseconds; absent means no lease.
    pub lease_ms: Option<u64>,
    /// On an acquire, or in the reply to it: what ends the hold, beside a lease or in its place;
    /// absent means its release.
    pub until: Option<Until>,
    /// Time that the caller is ready to wait, in milliseconds.
    pub wait_ms: Option<u64>,
    /// Fencing token.
    pub token: Option<u64>,
    /// In the reply to an acquire that tried more than once: how long after its invocation the try
    /// that was granted was sent, in nanoseconds; absent means at once.
    pub waited_ns: Option<u64>,
    /// In a reply: how often the owner holds the lock now; 0 means that it is free.
    pub count: Option<u32>,
    /// In the reply to a granted acquire: the servers that granted it.
    pub by: Option<Box<Givers>>,
    /// On the invocation of a renewal: whether the harness sent it by itself, for a library that
    /// has no watchdog.
    pub by_harness: bool,
    /// On the invocation of a renewal: whether the library sent it by itself, so that its answer
    /// tells the client nothing.
    pub by_library: bool,
    /// In the reply to a release: what it leaves open of the lock's owner.
    pub ownership: Option<Ownership>,
    /// Guarded resource.
    pub resource: Option<Name>,
    /// Data that is read or written there.
    pub value: Option<Box<Json>>,
    /// Route that a client's commands take, on its notes of that.
    pub route: Option<Box<RouteNote>>,
    /// Role that a server has taken on, on notes of that.
    pub role: Option<Box<RoleNote>>,
    /// Knowledge that the servers have of a lock, on notes of that.
    pub view: Option<Box<ViewNote>>,
    /// Command that a server was given, on notes of that.
    pub command: Option<Box<CommandNote>>,
    /// Failure of a client, on notes of that.
    pub failure: Option<Box<FailureNote>>,
    /// Number of leases that a server has ended, on notes of that.
    pub expired: Option<Box<ExpiredNote>>,
    /// Since when whoever records stood still, on notes of that.
    pub stall: Option<Box<StallNote>>,
    /// Life cycle of a fault, on notes of the nemesis.
    pub fault: Option<Box<FaultNote>>,
    /// Phase of the run, on notes of the nemesis.
    pub phase: Option<Box<PhaseNote>>,
    /// Fields that this version does not know; kept, never refused.
    pub extra: Option<Box<Map<String, Json>>>,
}

/// One line of a history.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Position in the history; program order of a process goes by it.
    pub index: u64,
    /// Time at which it was sent (invoke) or its reply received (completion).
    pub time: Nanos,
    /// Kind of event: what it says of its operation.
    pub kind: Kind,
    /// Process whose event it is.
    pub process: Process,
    /// The operation it is about.
    pub function: Function,
    /// The lock; the empty name is the one key of a history without keys.
    pub key: Name,
    /// Content that is asked for or answered.
    pub value: Value,
    /// Reason why it failed, `"refused"` and `"not-owner"` being the server's own answers.
    pub error: Option<Name>,
    /// Fields of the line that this version does not know.
    pub extra: Option<Box<Map<String, Json>>>,
}

impl Event {
    /// The server said that the lock is held.
    pub const REFUSED: &'static str = "refused";
    /// The server said that the caller does not hold the lock.
    pub const NOT_OWNER: &'static str = "not-owner";
}
