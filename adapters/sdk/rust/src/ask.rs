//! Asks of a client, and the words of a library about them.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Way in which a lock is asked for or held.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Alone.
    #[default]
    Write,
    /// With other readers.
    Read,
}

/// Lock that a call is about, and how it is asked for or held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// Its name.
    pub key: String,
    /// [`Mode::Write`] but for a lock that knows readers.
    pub mode: Mode,
    /// 1 but for a semaphore.
    pub permits: u32,
    /// Time that the client is ready to wait; none but for a lock that can
    /// [wait](crate::Ability::Wait).
    pub wait: Option<Duration>,
}

impl Ask {
    /// All of a lock, at once.
    pub fn of(key: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            mode: Mode::Write,
            permits: 1,
            wait: None,
        }
    }
}

/// Outcome of a try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Acquired {
    /// The lock is the client's.
    Granted(Grant),
    /// Another has it.
    Refused,
    /// The library says the same where another has it and where it could not ask.
    RefusedUnknown,
}

/// Terms of a lock that a library has granted. The default says nothing more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grant {
    /// Time for which the library says that the lock is good, from the call on.
    pub lease: Option<Duration>,
    /// Fencing token.
    pub token: Option<u64>,
    /// Values by which servers know the holder.
    pub marks: Vec<Mark>,
    /// Names of the servers that granted it, where the library knows.
    pub by: Vec<String>,
    /// True if it has no lease and goes with a session of the client's, which ends when nobody
    /// knows.
    pub until_session_end: bool,
    /// Time from the call to the sending of the try that was granted, at least.
    pub waited: Option<Duration>,
}

/// Value by which servers know a holder; it need not be text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark(pub(crate) Vec<u8>);

impl From<Vec<u8>> for Mark {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl From<&[u8]> for Mark {
    fn from(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }
}

impl From<String> for Mark {
    fn from(text: String) -> Self {
        Self(text.into_bytes())
    }
}

impl From<&str> for Mark {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().to_vec())
    }
}

/// State of a lock that a library has given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Released {
    /// It was the client's, and is free.
    Free,
    /// The client holds it no more; whether it did until then, the library does not tell.
    OwnershipUnknown,
    /// The client holds it as often as this now.
    Count(u32),
}
