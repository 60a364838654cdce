//! Lines of the protocol.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::ask::{Acquired, Ask, Grant, Mark, Mode, Released};
use crate::moment::Moment;
use crate::{Error, Sentinels, Server};

/// Most bytes of a line.
pub(crate) const LINE_MAX: usize = 64 << 10;
/// Most bytes of an error's text that are sent.
const TEXT_MAX: usize = 4000;

/// Line that the harness writes.
#[derive(Debug)]
pub(crate) enum Spoken {
    /// A request.
    Request(Request),
    /// A renewal is to be sent, or left out.
    Decision { number: u64, is_to_be_sent: bool },
}

/// A request.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) id: u64,
    /// Word for what is to be done.
    pub(crate) word: String,
    /// All its fields.
    pub(crate) fields: Map<String, Value>,
}

impl Spoken {
    /// Reads a line.
    ///
    /// # Errors
    /// In words, what it must be.
    pub(crate) fn read(line: &[u8]) -> Result<Self, String> {
        let fields: Map<String, Value> = serde_json::from_slice(line)
            .map_err(|error| format!("must be a JSON object: {error}"))?;
        for (word, is_to_be_sent) in [("go", true), ("skip", false)] {
            if let Some(number) = fields.get(word) {
                let number = number
                    .as_u64()
                    .ok_or_else(|| format!("'{word}' must be the number of a renewal"))?;
                return Ok(Self::Decision {
                    number,
                    is_to_be_sent,
                });
            }
        }
        let id = fields.get("id").and_then(Value::as_u64);
        let word = fields.get("do").and_then(Value::as_str).map(str::to_owned);
        let (Some(id), Some(word)) = (id, word) else {
            return Err("a request must have 'id', a number, and 'do', a word".to_owned());
        };
        Ok(Self::Request(Request { id, word, fields }))
    }
}

impl Request {
    /// Reads the fields that belong to the word.
    ///
    /// # Errors
    /// When one is missing, or is not what it must be.
    pub(crate) fn read<'r, T: Deserialize<'r>>(&'r self) -> Result<T, Error> {
        let word = &self.word;
        T::deserialize(&self.fields)
            .map_err(|error| Error::failed(format!("'{word}' must have its fields: {error}")))
    }

    /// Tells whether it is to give up the request of this number.
    pub(crate) fn cancels(&self, id: u64) -> bool {
        self.word == "cancel" && self.fields.get("request").and_then(Value::as_u64) == Some(id)
    }
}

/// Fields of `open`.
#[derive(Debug, Deserialize)]
pub(crate) struct Open {
    #[serde(default)]
    pub(crate) client: String,
    pub(crate) lease_ms: Option<u64>,
    pub(crate) renew_every_ms: Option<u64>,
    #[serde(default)]
    pub(crate) reply_timeout_ms: u64,
    pub(crate) node_timeout_ms: Option<u64>,
    pub(crate) permits: Option<u32>,
    pub(crate) identity: Option<String>,
    #[serde(default)]
    pub(crate) topology: String,
    pub(crate) servers: Vec<Server>,
    #[serde(default)]
    pub(crate) nodes: Vec<Server>,
    pub(crate) sentinels: Option<Sentinels>,
    #[serde(default)]
    pub(crate) seed: u64,
}

/// Fields of a request about a lock.
#[derive(Debug, Deserialize)]
pub(crate) struct Target {
    key: String,
    #[serde(default)]
    mode: Mode,
    #[serde(default = "one")]
    permits: u32,
    wait_ms: Option<u64>,
}

const fn one() -> u32 {
    1
}

impl From<Target> for Ask {
    fn from(target: Target) -> Self {
        Self {
            key: target.key,
            mode: target.mode,
            permits: target.permits,
            wait: target.wait_ms.map(Duration::from_millis),
        }
    }
}

/// Fields of `await`.
#[derive(Debug, Deserialize)]
pub(crate) struct Await {
    pub(crate) key: String,
    pub(crate) pause_us: u64,
    pub(crate) within_us: u64,
}

/// Fields of `end-wait`.
#[derive(Debug, Deserialize)]
pub(crate) struct EndWait {
    pub(crate) key: String,
    pub(crate) granted: bool,
}

/// Fields of `servers`.
#[derive(Debug, Deserialize)]
pub(crate) struct Servers {
    pub(crate) servers: Vec<Server>,
}

/// The answer to a request.
#[derive(Debug, Serialize)]
pub(crate) struct Reply<'a> {
    pub(crate) id: u64,
    #[serde(flatten)]
    pub(crate) answer: &'a Answer,
}

/// Outcome of a request, or of a renewal.
#[derive(Debug, Serialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub(crate) enum Answer {
    Hello {
        protocol: u64,
        name: String,
        version: String,
    },
    Opened(Introduction),
    Granted(Granted),
    Refused {
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<&'static str>,
    },
    Renewed {
        #[serde(skip_serializing_if = "Option::is_none")]
        lease_ms: Option<u64>,
    },
    Released {
        #[serde(skip_serializing_if = "Option::is_none")]
        ownership: Option<&'static str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        count: Option<u32>,
    },
    NotOwner,
    Held,
    Suspended,
    Done,
    Cancelled,
    Error {
        text: String,
    },
    Failed {
        text: String,
    },
    Unsupported {
        text: String,
    },
}

/// Fields of `opened`.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Introduction {
    pub(crate) can: Vec<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) promises: Vec<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) denies: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) answers_within_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) server_key: Option<&'static str>,
}

/// Fields of `granted`.
#[derive(Debug, Serialize)]
pub(crate) struct Granted {
    #[serde(skip_serializing_if = "Option::is_none")]
    lease_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    marks: Vec<Mark>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    by: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    waited_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<&'static str>,
}

impl From<Grant> for Granted {
    fn from(grant: Grant) -> Self {
        Self {
            lease_ms: grant.lease.map(milliseconds),
            token: grant.token,
            marks: grant.marks,
            by: grant.by,
            waited_ms: grant.waited.map(milliseconds),
            until: grant.until_session_end.then_some("session-end"),
        }
    }
}

impl Serialize for Mark {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match str::from_utf8(&self.0) {
            Ok(text) => serializer.serialize_str(text),
            Err(_) => serializer.collect_map([("base64", STANDARD.encode(&self.0))]),
        }
    }
}

impl From<Acquired> for Answer {
    fn from(acquired: Acquired) -> Self {
        match acquired {
            Acquired::Granted(grant) => Self::Granted(grant.into()),
            Acquired::Refused => Self::Refused { reason: None },
            Acquired::RefusedUnknown => Self::Refused {
                reason: Some("unknown"),
            },
        }
    }
}

impl From<Released> for Answer {
    fn from(released: Released) -> Self {
        let (ownership, count) = match released {
            Released::Free => (None, None),
            Released::OwnershipUnknown => (Some("unknown"), None),
            Released::Count(count) => (None, Some(count)),
        };
        Self::Released { ownership, count }
    }
}

impl From<()> for Answer {
    fn from((): ()) -> Self {
        Self::Done
    }
}

impl From<Error> for Answer {
    fn from(error: Error) -> Self {
        match error {
            Error::NotOwner => Self::NotOwner,
            Error::Failed(text) => Self::Failed {
                text: clipped(text),
            },
            Error::Unsupported(text) => Self::Unsupported {
                text: clipped(text),
            },
            Error::Unknown(text) | Error::Lost(text) => Self::Error {
                text: clipped(text),
            },
        }
    }
}

/// Outcome of a renewal.
pub(crate) fn renewed(outcome: Result<Option<Duration>, Error>) -> Answer {
    match outcome {
        Ok(lease) => Answer::Renewed {
            lease_ms: lease.map(milliseconds),
        },
        Err(error) => error.into(),
    }
}

pub(crate) fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn clipped(mut text: String) -> String {
    if text.len() > TEXT_MAX {
        let end = (0..=TEXT_MAX).rfind(|&at| text.is_char_boundary(at));
        text.truncate(end.unwrap_or_default());
        text.push_str(" ...");
    }
    text
}

/// Note that is written without being asked.
#[derive(Debug, Serialize)]
#[serde(tag = "note", rename_all = "kebab-case")]
pub(crate) enum Note<'a> {
    Renewing {
        number: u64,
        #[serde(flatten)]
        target: Noted<'a>,
    },
    Renewed {
        number: u64,
        outcome: Answer,
    },
    Lost(Told<'a>),
    Suspended(Told<'a>),
    Resumed(Told<'a>),
    Queued {
        key: &'a str,
    },
    Routed {
        to: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        from: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        why: Option<&'a str>,
    },
}

/// Lock of which the library told something, and when.
#[derive(Debug, Serialize)]
pub(crate) struct Told<'a> {
    #[serde(flatten)]
    target: Noted<'a>,
    #[serde(flatten)]
    moment: Option<Moment>,
}

impl<'a> Told<'a> {
    pub(crate) fn new(ask: &'a Ask, moment: Option<Moment>) -> Self {
        let target = ask.into();
        Self { target, moment }
    }
}

/// Lock that a note is about.
#[derive(Debug, Serialize)]
pub(crate) struct Noted<'a> {
    key: &'a str,
    mode: Mode,
    permits: u32,
}

impl<'a> From<&'a Ask> for Noted<'a> {
    fn from(ask: &'a Ask) -> Self {
        Self {
            key: &ask.key,
            mode: ask.mode,
            permits: ask.permits,
        }
    }
}
