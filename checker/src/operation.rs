//! One operation: an invocation and what became of it.
//!
//! For: the compact form on which everything after the reader works; a million of them take about
//! a hundred megabytes. Not for: judging; what an operation implies is said by the holds.

use serde::{Deserialize, Serialize};

use crate::history::{Function, Mode, Nanos};

/// A lock key, by its number in [`Digest::keys`](crate::Digest::keys).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(pub u32);

/// An owner, by its number in [`Digest::owners`](crate::Digest::owners).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OwnerId(pub u32);

/// An operation, by its position in [`Digest::operations`](crate::Digest::operations).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpId(pub u32);

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// Asks for the lock.
    Acquire,
    /// Extends the lease of a hold.
    Renew,
    /// Gives the lock back.
    Release,
    /// Reads or writes the guarded resource.
    Resource,
    /// Anything else, of which the checker knows nothing.
    Other,
}

impl From<&Function> for Action {
    fn from(function: &Function) -> Self {
        match function {
            Function::Acquire => Self::Acquire,
            Function::Renew => Self::Renew,
            Function::Release => Self::Release,
            Function::Read | Function::Write | Function::Cas | Function::Append => Self::Resource,
            Function::Queued
            | Function::Lost
            | Function::Alive
            | Function::Fault
            | Function::Phase
            | Function::Other(_) => Self::Other,
        }
    }
}

/// What became of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It took effect.
    Ok,
    /// An acquire: the server answered that the lock is held.
    Refused,
    /// A renewal or a release: the server answered that the caller does not hold the lock.
    NotOwner,
    /// It certainly never executed.
    Failed,
    /// Indeterminate: it may take effect at any time after its invocation, or never.
    Unknown,
}

/// One operation on a lock or on the resource that it guards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Index of its invocation.
    pub invoke: u64,
    /// When it was sent.
    pub invoked: Nanos,
    /// Its completion, if there is one. That of an [`Outcome::Unknown`] operation only says when
    /// the client stopped waiting.
    pub completion: Option<Completion>,
    /// The lease granted or, where the reply names none, asked for. `None`: no lease.
    pub lease: Option<Nanos>,
    /// Fencing token of the reply or, on the resource, of the request.
    pub token: Option<u64>,
    /// The process that sent it.
    pub process: u64,
    /// Which lock.
    pub key: KeyId,
    /// Who asks; the process number as text where the history names nobody.
    pub owner: OwnerId,
    /// Permits asked for.
    pub permits: u32,
    /// What it does.
    pub action: Action,
    /// Shared or alone.
    pub mode: Mode,
    /// What became of it.
    pub outcome: Outcome,
}

/// The event that completed an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Its index.
    pub index: u64,
    /// When it was received.
    pub time: Nanos,
}

impl Operation {
    /// When the server's answer arrived; `None` for an indeterminate operation.
    pub fn answered(&self) -> Option<Nanos> {
        match self.outcome {
            Outcome::Unknown => None,
            Outcome::Ok | Outcome::Refused | Outcome::NotOwner | Outcome::Failed => {
                self.completion.map(|completion| completion.time)
            }
        }
    }

    /// The time from invocation to answer, where one arrived.
    pub fn latency(&self) -> Option<Nanos> {
        self.answered().map(|answered| answered - self.invoked)
    }

    /// An acquire that was granted.
    pub fn is_grant(&self) -> bool {
        self.action == Action::Acquire && self.outcome == Outcome::Ok
    }

    /// Index of the last event of it: its completion, or else its invocation.
    pub fn last_event(&self) -> u64 {
        self.completion
            .map_or(self.invoke, |completion| completion.index)
    }
}
