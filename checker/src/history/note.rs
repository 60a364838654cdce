//! Notes beside operations and faults: the phases of a run, which servers a client turned to, what
//! servers became, what they knew and were told, and which clients failed.

use serde::{Deserialize, Serialize};

use super::event::{Name, Nanos, Until};

/// The run entered a phase: value of a `note` with function `phase`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseNote {
    /// `main`, `final` once every fault is healed and every holder was asked to release, and `end`
    /// once nothing more will come.
    pub name: Name,
    /// In `final`: how long a key may stay unobtainable from here on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<Nanos>,
}

/// A server became something else: value of a `note` with function `role`. No verdict rests on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoleNote {
    /// Name of the server.
    pub node: Name,
    /// Role from here on, `primary` or `replica`, `leader` or `follower`.
    pub role: Name,
    /// Role when it was last asked.
    pub was: Name,
}

/// A client's commands go to another server from here on, or to the same over a new connection:
/// value of a `note` with function `routed`. No verdict rests on it; it explains what a client
/// could know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouteNote {
    /// The server that they went to until now; absent where there was none. The same as `to` when
    /// only the connection is new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Name>,
    /// The server that they go to.
    pub to: Name,
    /// Reason for which the client turned to it, in words.
    pub why: Name,
}

/// Answers of servers that were asked at once for a lock key: value of a `note` with function
/// `view`. Only a leftover is shown by it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ViewNote {
    /// Time at which they were asked; the note itself is written once all have answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Nanos>,
    /// One view for each server that was asked and has to do with the key.
    pub nodes: Vec<NodeView>,
}

/// Knowledge of one server of a lock key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeView {
    /// Name of the server.
    pub node: Name,
    /// Role that it takes itself for, `primary` or `replica`, `leader` or `follower`; absent where
    /// it did not answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Name>,
    /// The clients that it knows as holders.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held_by: Vec<Name>,
    /// Content of the key in words, where it names no client, or is a collection whose members may
    /// outlive what they stand for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Name>,
    /// Time for which the key has to live by the server's clock, in milliseconds; absent means for
    /// ever, unless [`Self::until`] says otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_ms: Option<u64>,
    /// End of the key, where no time is known: it goes with the session of its owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Until>,
    /// Reason why there is no answer, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Name>,
}

impl NodeView {
    /// Tells whether the key is there.
    pub fn is_there(&self) -> bool {
        !self.held_by.is_empty() || self.content.is_some()
    }
}

/// A command that a server executed on a lock key, as its MONITOR tells it, or the last reply of a
/// server to a client that was granted a lock: value of a `note` with function `command`. Of the
/// properties, only dead on arrival is judged with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandNote {
    /// Name of the server.
    pub node: Name,
    /// Sender: a client, or another server; absent for a script that runs on this one. Of a reply,
    /// the client that it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Name>,
    /// The command and its arguments, cut to a length that one can read.
    pub text: Name,
    /// True if it is a reply, at the time when it was read as the server sent it: what the server
    /// did for the client until the answer, it had done by then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_reply: bool,
}

/// A client failed by itself, and takes no further part: value of a `note` with function `failure`.
/// The property progress rests on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureNote {
    /// Kind of the failure.
    pub kind: FailureKind,
    /// The request that it was to answer, by its word; absent where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub during: Option<Name>,
    /// Of a hang: the longest that the call may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<Nanos>,
    /// Of a hang: how long the answer was waited for, where that is longer than the bound: on a
    /// busy machine it may come late.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited: Option<Nanos>,
    /// Of a hang: whether that is the longest time that a call takes by the library's own word,
    /// whatever becomes of its servers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_own_bound: bool,
    /// Of a crash: its exit status or signal, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Name>,
    /// The last lines that it wrote to its standard error.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub last_lines: Vec<Name>,
}

impl FailureNote {
    /// How long the answer was waited for, in vain.
    pub fn waited(&self) -> Nanos {
        self.waited.or(self.bound).unwrap_or_default()
    }
}

/// Kind of failure of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// It did not answer within the bound of the request.
    Hang,
    /// Its process ended by itself.
    Crash,
}

/// A server ended leases because their time was over, by its own count: value of a `note` with
/// function `expired`. No verdict rests on it; it explains who ended a hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpiredNote {
    /// Name of the server.
    pub node: Name,
    /// Number of leases that it has ended since it was last asked.
    pub leases: u64,
    /// Time at which it was last asked.
    pub since: Nanos,
}

/// Stall of the process that recorded the history: value of a `note` with function `stall`, written
/// when it went on. What came in meanwhile has the time at which it was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StallNote {
    /// Time at which it was last known to go on.
    pub since: Nanos,
}
