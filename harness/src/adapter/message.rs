//! What is said over the adapter protocol, one JSON object a line.
//!
//! Fields that are not known are passed over, so that a later version can add some; what is known
//! has to be as it should.

use std::collections::BTreeSet;

use lockstorm_checker::history::{Mode, RouteNote};
use lockstorm_scenarios::Lock;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// Version of the protocol: that of `hello`, on both sides.
pub const PROTOCOL: u32 = 1;
/// Longest line in bytes. The longest of the protocol's own is a fraction of it.
pub const LINE_MAX: usize = 64 << 10;

/// What the harness sends.
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
    /// What is asked for.
    #[serde(flatten)]
    pub call: Call,
}

/// What can be asked for.
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
        /// Which lock.
        key: String,
        /// How long to pause where nothing tells when it is free.
        pause_us: u64,
        /// Come back after this long at the latest.
        within_us: u64,
    },
    /// Nobody waits for this lock any more.
    EndWait {
        /// Which lock.
        key: String,
        /// Whether it was granted.
        granted: bool,
    },
    /// Extend the lease.
    Renew(Target),
    /// Give the lock back.
    Release(Target),
    /// Does the library still say that you hold it?
    Alive(Target),
    /// You are about to change what the lock guards: are you there?
    Touch {
        /// Which lock.
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
            Self::Alive(_) => "alive",
            Self::Touch { .. } => "touch",
            Self::Servers { .. } => "servers",
            Self::Close => "close",
        }
    }
}

/// Who to be, and on which servers.
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
    /// The shape of the deployment: `single`, `replicated`, `independent` ...
    pub topology: String,
    /// The servers that take writes, in order.
    pub servers: Vec<Server>,
    /// All servers, whatever they do.
    #[serde(default)]
    pub nodes: Vec<Server>,
    /// Where there are sentinels: who they are, for clients that ask them who is primary.
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
    /// What they call the primary, whoever it is.
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
    /// Where it listens, as `ip:port`.
    pub address: String,
}

/// Which lock, and how.
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
    /// How long the client is ready to wait in all.
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
    /// What came of it.
    #[serde(flatten)]
    pub answer: Answer,
}

/// What can come of a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Answer {
    /// To `hello`.
    Hello {
        /// The version of the protocol.
        protocol: u32,
        /// What it is, such as `redis-py`.
        name: String,
        /// Which of them.
        #[serde(default)]
        version: String,
    },
    /// To `open`.
    Opened {
        /// What it can do beside what all can.
        #[serde(default)]
        can: BTreeSet<Can>,
    },
    /// To `acquire`: it is the client's.
    Granted {
        /// For so long, counted from the sending of the request; absent means for the lease.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lease_ms: Option<u64>,
        /// Fencing token.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        token: Option<u64>,
        /// How long after the request the try that was granted was sent, at least.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        waited_ms: Option<u64>,
        /// By what the servers know the holder: what stands at the key, or a field of it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        marks: Vec<String>,
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
        /// How often the client holds it now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        count: Option<u32>,
    },
    /// To `acquire`: another has it.
    Refused,
    /// To `renew`, `release` and `alive`: it is not the client's.
    NotOwner,
    /// To `alive`: it is the client's, as far as the library knows.
    Held,
    /// To what has nothing to tell.
    Done,
    /// It may have had an effect, or may have one yet.
    Error {
        /// Why nobody knows.
        text: String,
    },
    /// It certainly had no effect.
    Failed {
        /// Why.
        text: String,
    },
    /// The program, or its library, cannot do that at all.
    Unsupported {
        /// What it cannot do.
        text: String,
    },
}

impl Answer {
    /// The word of the protocol.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Hello { .. } => "hello",
            Self::Opened { .. } => "opened",
            Self::Granted { .. } => "granted",
            Self::Renewed { .. } => "renewed",
            Self::Released { .. } => "released",
            Self::Refused => "refused",
            Self::NotOwner => "not-owner",
            Self::Held => "held",
            Self::Done => "done",
            Self::Error { .. } => "error",
            Self::Failed { .. } => "failed",
            Self::Unsupported { .. } => "unsupported",
        }
    }
}

/// What a program can do beside what all can.
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
}

/// What a program says without being asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "note", rename_all = "kebab-case")]
pub enum Note {
    /// It is about to renew a lease, and waits for `go` with this number.
    Renewing {
        /// The number; each is higher than the one before.
        number: u64,
        /// Which lease.
        #[serde(flatten)]
        target: Target,
    },
    /// What came of a renewal that was announced.
    Renewed {
        /// Its number.
        number: u64,
        /// `renewed`, `not-owner`, `error` or `failed`.
        outcome: Answer,
    },
    /// The library says that the lock is lost.
    Lost(Target),
    /// Its commands go to another server from here on, or to the same over a new connection.
    Routed(RouteNote),
    /// The client has taken a place in the queue.
    Queued {
        /// Of which lock.
        key: String,
    },
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
