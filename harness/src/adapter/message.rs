//! Messages of the adapter protocol, one JSON object a line.
//!
//! Fields that are not known are passed over, so that a later version can add some; what is known
//! has to be as it should.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use lockstorm_checker::history::{Mode, Ownership, RouteNote, Until};
use lockstorm_scenarios::{Lock, Promise};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// Newest version of the protocol: that of our `hello`.
pub const PROTOCOL: u32 = 2;
/// Versions that a program may answer. The first knows no `cancel`, and is no different else.
pub const SPOKEN: std::ops::RangeInclusive<u32> = 1..=PROTOCOL;
/// Longest line in bytes. The longest of the protocol's own is a fraction of it.
pub const LINE_MAX: usize = 64 << 10;

/// Message that the harness sends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Spoken {
    /// A request, to be answered under its number.
    Request(Request),
    /// The renewals that were announced under this number may begin.
    Go {
        /// The number.
        go: u64,
    },
    /// The renewal that was announced under this number must not be sent: the watchdog stalls.
    Skip {
        /// The number.
        skip: u64,
    },
}

/// A request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Its number; each is higher than the one before.
    pub id: u64,
    /// Call that is asked for.
    #[serde(flatten)]
    pub call: Call,
}

/// Call that the harness can ask for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum Call {
    /// The first request: who are you?
    Hello {
        /// Our version of the protocol.
        protocol: u32,
    },
    /// The second: be this client of this lock.
    Open(Box<Open>),
    /// Ask for the lock once; with `wait_ms`, as often as the library does within that time.
    Acquire(Target),
    /// After a refusal: come back when it may be worth to ask again.
    Await {
        /// Key of the lock.
        key: String,
        /// Length of the pause where nothing tells when the lock is free.
        pause_us: u64,
        /// Come back after this long at the latest.
        within_us: u64,
    },
    /// Nobody waits for this lock any more.
    EndWait {
        /// Key of the lock.
        key: String,
        /// `true` if it was granted.
        granted: bool,
        /// `true` if the caller gave the wait up.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        cancelled: bool,
    },
    /// Extend the lease.
    Renew(Target),
    /// Give the lock back.
    Release(Target),
    /// Give up the request under way, as your language does it.
    Cancel {
        /// The number of the request.
        request: u64,
    },
    /// Does the library still say that you hold it?
    Alive(Target),
    /// You are about to change what the lock guards: are you there?
    Touch {
        /// Key of the lock.
        key: String,
    },
    /// The servers that take writes are others now.
    Servers {
        /// All of them.
        servers: Vec<Server>,
    },
    /// Say goodbye, and end.
    Close,
}

impl Call {
    /// The word of the protocol.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Hello { .. } => "hello",
            Self::Open(_) => "open",
            Self::Acquire(_) => "acquire",
            Self::Await { .. } => "await",
            Self::EndWait { .. } => "end-wait",
            Self::Renew(_) => "renew",
            Self::Release(_) => "release",
            Self::Cancel { .. } => "cancel",
            Self::Alive(_) => "alive",
            Self::Touch { .. } => "touch",
            Self::Servers { .. } => "servers",
            Self::Close => "close",
        }
    }

    /// Tells whether a caller that gives up gives this up too. The end of a wait is what it does
    /// then, and comes to its end.
    pub const fn can_be_cancelled(&self) -> bool {
        matches!(
            self,
            Self::Acquire(_) | Self::Await { .. } | Self::Renew(_) | Self::Release(_)
        )
    }
}

/// Client that the program is to be, and the servers that it is to use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Open {
    /// Name of the client.
    pub client: String,
    /// Time to live of a grant; absent for a lock that never expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_ms: Option<u64>,
    /// Extend a lease this often; absent means never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renew_every_ms: Option<u64>,
    /// After this long without a server's reply the outcome is an `error`.
    pub reply_timeout_ms: u64,
    /// Patience with one of several servers that are asked for one lock; absent for the library's
    /// own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_timeout_ms: Option<u64>,
    /// Name by which the library is to call its owner; absent for its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<String>,
    /// Number of permits that a semaphore has in all; absent for a mutex, and for one permit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permits: Option<u32>,
    /// The shape of the deployment: `single`, `replicated`, `independent` ...
    pub topology: String,
    /// The servers that take writes, in order.
    pub servers: Vec<Server>,
    /// All servers, whatever they do.
    #[serde(default)]
    pub nodes: Vec<Server>,
    /// Sentinels, where there are any, for clients that ask them who is primary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sentinels: Option<Watch>,
    /// Address to connect from: by it a faulty network knows whose connection it is.
    pub source: String,
    /// For whatever is drawn at random.
    pub seed: u64,
    /// The lock, as the scenario names it.
    pub lock: Lock,
}

/// Sentinels, and what they watch over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watch {
    /// Name by which they call the primary, whichever server it is.
    pub master: String,
    /// The sentinels, each with its address.
    pub sentinels: Vec<Server>,
    /// The servers that they watch over, the first primary first.
    pub servers: Vec<Server>,
}

/// A server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Server {
    /// Name, such as `primary` or `n1`.
    pub name: String,
    /// Address on which it listens, as `ip:port`.
    pub address: String,
}

/// Lock that a message is about, and the way in which it is asked for or held.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Target {
    /// Its key.
    pub key: String,
    /// Alone, or with other readers.
    #[serde(default)]
    pub mode: Mode,
    /// Permits of a semaphore.
    #[serde(default = "one")]
    pub permits: u32,
    /// Time that the client is ready to wait in all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_ms: Option<u64>,
}

const fn one() -> u32 {
    1
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// The number of the request.
    pub id: u64,
    /// Outcome of the request.
    #[serde(flatten)]
    pub answer: Answer,
}

/// Outcome that a request can have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Answer {
    /// To `hello`.
    Hello {
        /// The version of the protocol.
        protocol: u32,
        /// Name that the program gives itself, such as `redis-py`.
        name: String,
        /// Version of it.
        #[serde(default)]
        version: String,
    },
    /// To `open`.
    Opened(Opened),
    /// To `acquire`: it is the client's.
    Granted {
        /// For so long, counted from the sending of the request; absent means for the lease.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lease_ms: Option<u64>,
        /// Fencing token.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        token: Option<u64>,
        /// End that the servers put to it, beside a lease or in its place.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Until>,
        /// Time from the request to the sending of the try that was granted, at least.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        waited_ms: Option<u64>,
        /// By what the servers know the holder: what stands at the key, or a field of it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        marks: Vec<Mark>,
        /// The servers that granted it, by the names in `open`; empty where the program does not
        /// know.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        by: Vec<String>,
    },
    /// To `renew`: the lease is extended.
    Renewed {
        /// For so long, counted from the sending of the request; absent means for the lease.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lease_ms: Option<u64>,
    },
    /// To `release`: it is given back.
    Released {
        /// Number of times that the client holds it now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        count: Option<u32>,
        /// Doubt that the library leaves about who held it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ownership: Option<Ownership>,
    },
    /// To `acquire`: another has it, unless the reason is left open.
    Refused {
        /// Doubt that the library leaves about the reason.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<Reason>,
    },
    /// To `renew`, `release` and `alive`: it is not the client's.
    NotOwner,
    /// To `alive`: it is the client's, as far as the library knows.
    Held,
    /// To `alive`: the library says that it does not know.
    Suspended,
    /// To a request that was given up: it may have had an effect, or may have one yet.
    Cancelled,
    /// To what has nothing to tell.
    Done,
    /// It may have had an effect, or may have one yet.
    Error {
        /// Reason why nobody knows.
        text: String,
    },
    /// It certainly had no effect.
    Failed {
        /// Reason why it failed.
        text: String,
    },
    /// The program, or its library, cannot do that at all.
    Unsupported {
        /// Description of what it cannot do.
        text: String,
    },
}

/// Words of a program about itself and its library, when it is open.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Opened {
    /// Abilities beside those that all programs have.
    #[serde(default)]
    pub can: BTreeSet<Can>,
    /// Promises of the library beyond those that every lock makes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub promises: Vec<Promise>,
    /// Promises of every lock that the library does not make.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denies: Vec<Promise>,
    /// Longest time that a call of the library takes as it is configured, all its tries included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers_within_ms: Option<u64>,
    /// Key at which a server keeps a lock, with `{key}` in the place of the lock's name; absent
    /// where the name is the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_key: Option<String>,
}

/// Text or bytes by which the servers know the holder of a lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Mark {
    /// Text.
    Text(String),
    /// Anything else.
    Bytes {
        /// The bytes, in base 64.
        base64: String,
    },
}

impl Mark {
    /// Returns the bytes as they stand on a server.
    ///
    /// # Errors
    /// In words, what is wrong with them.
    pub fn bytes(&self) -> Result<Vec<u8>, String> {
        match self {
            Self::Text(text) => Ok(text.clone().into_bytes()),
            Self::Bytes { base64 } => BASE64_STANDARD
                .decode(base64)
                .map_err(|error| format!("a mark must be base 64: {error}")),
        }
    }
}

impl From<String> for Mark {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// Reason of a refusal that a library leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// Another may have the lock, or the servers could not be asked.
    Unknown,
}

impl Answer {
    /// A refusal because another has the lock.
    pub const REFUSED: Self = Self::Refused { reason: None };

    /// The word of the protocol.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Hello { .. } => "hello",
            Self::Opened(_) => "opened",
            Self::Granted { .. } => "granted",
            Self::Renewed { .. } => "renewed",
            Self::Released { .. } => "released",
            Self::Refused { .. } => "refused",
            Self::NotOwner => "not-owner",
            Self::Held => "held",
            Self::Suspended => "suspended",
            Self::Cancelled => "cancelled",
            Self::Done => "done",
            Self::Error { .. } => "error",
            Self::Failed { .. } => "failed",
            Self::Unsupported { .. } => "unsupported",
        }
    }
}

/// Ability of a program beside those that all have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Can {
    /// It renews what it holds by itself, and announces each renewal.
    Watchdog,
    /// Its `acquire` waits by itself.
    Wait,
    /// It knows `await` and `end-wait`.
    Await,
    /// Its waiters stand in a queue, and it says when one has taken its place.
    Queue,
    /// Its grants come with fencing tokens, each greater than those before.
    Tokens,
    /// It connects from the address that it is told.
    Source,
    /// It knows `cancel`.
    Cancel,
    /// It lets its owner be called as it is told.
    Identity,
    /// It renews what it holds by itself, and announces nothing.
    SilentWatchdog,
    /// It does so whether the scenario asks for renewals or not.
    AlwaysRenews,
}

/// Message that a program sends without being asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "note", rename_all = "kebab-case")]
pub enum Note {
    /// It is about to renew a lease, and waits for `go` with this number.
    Renewing {
        /// The number; each is higher than the one before.
        number: u64,
        /// Lease that is about to be renewed.
        #[serde(flatten)]
        target: Target,
    },
    /// Outcome of a renewal that was announced.
    Renewed {
        /// Its number.
        number: u64,
        /// `renewed`, `not-owner`, `error` or `failed`.
        outcome: Answer,
    },
    /// The library says that the lock is lost.
    Lost(Word),
    /// The library says that it does not know whether the lock is held.
    Suspended(Word),
    /// The library says that the lock was held while it did not know.
    Resumed(Word),
    /// Its commands go to another server from here on, or to the same over a new connection.
    Routed(RouteNote),
    /// The client has taken a place in the queue.
    Queued {
        /// Of which lock.
        key: String,
    },
}

/// Word of a library to its client, unasked, of a lock that it was granted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Word {
    /// The lock.
    #[serde(flatten)]
    pub target: Target,
    /// Number of the last request that the program had read by then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// Time from reading that request until the library gave its word, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_us: Option<u64>,
}

/// A line of a program's.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// An answer.
    Reply(Reply),
    /// Something nobody asked.
    Note(Note),
}

/// Reads a line of a program's.
///
/// # Errors
/// In words, what is wrong with it.
pub fn read_said(line: &[u8]) -> Result<Said, String> {
    let value: Json = serde_json::from_slice(line).map_err(|error| format!("no JSON: {error}"))?;
    let is_note = value.get("note").is_some();
    let said = if is_note {
        serde_json::from_value(value).map(Said::Note)
    } else {
        serde_json::from_value(value).map(Said::Reply)
    };
    said.map_err(|error| format!("no line of the protocol: {error}"))
}

/// A message as a line.
pub fn line(message: &impl Serialize) -> String {
    let mut line = serde_json::to_string(message).expect("these types are JSON");
    line.push('\n');
    line
}
