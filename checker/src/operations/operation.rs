//! One operation: an invocation and what became of it.
//!
//! For: the compact form on which everything after the reader works; a million of them take about
//! a hundred megabytes. Not for: judging; what an operation implies is said by the holds.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use crate::history::{Function, Mode, Nanos};

/// A lock key, by its number in [`Digest::keys`](crate::Digest::keys).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(pub u32);

/// An owner, by its number in [`Digest::owners`](crate::Digest::owners).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OwnerId(pub u32);

/// An operation, by its position in [`Digest::operations`](crate::Digest::operations).
///
/// The position is kept plus one: none at all takes no room of its own then, and a hold names five
/// operations that it may not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpId(NonZeroU32);

impl OpId {
    /// The operation at `position`.
    pub(crate) fn at(position: usize) -> Self {
        let number = u32::try_from(position + 1).ok().and_then(NonZeroU32::new);
        Self(number.expect("four billion operations do not fit in memory"))
    }

    /// Where it is among the operations.
    pub fn position(self) -> usize {
        self.0.get() as usize - 1
    }

    /// Each of `operations`, which begin with the first of all.
    pub(crate) fn each(
        operations: &[Operation],
    ) -> impl Iterator<Item = (Self, &Operation)> + Clone {
        (0..).map(Self::at).zip(operations)
    }
}

/// One end of an operation: where it was sent, or where it was completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge(u32);

impl Edge {
    pub(crate) fn sent(OpId(id): OpId) -> Self {
        let id = id.get();
        assert!(id < 1 << 31, "two billion operations do not fit in memory");
        Self(id << 1)
    }

    pub(crate) fn completed(id: OpId) -> Self {
        Self(Self::sent(id).0 | 1)
    }

    pub(crate) fn operation(self) -> OpId {
        OpId(NonZeroU32::new(self.0 >> 1).expect("it was made of such a number"))
    }

    pub(crate) fn is_sent(self) -> bool {
        self.0 & 1 == 0
    }
}

/// A JSON value, by its number in [`Digest::values`](crate::Digest::values): equal values have
/// equal numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ValueId(pub u32);

/// The servers of a grant, by their number in [`Digest::givers`](crate::Digest::givers).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GiversId(pub(crate) NonZeroU32);

/// The number of a [`Detail`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DetailId(pub(crate) NonZeroU32);

/// Details that only an operation on a guarded resource has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Detail {
    /// Resource, by its number in [`Digest::resources`](crate::Digest::resources); absent
    /// means the one that the lock guards.
    pub resource: Option<u32>,
    /// The value of the invocation.
    pub asked: Option<ValueId>,
    /// The value of the reply.
    pub replied: Option<ValueId>,
}

/// Kind of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// Asks for the lock.
    Acquire,
    /// Extends the lease of a hold.
    Renew,
    /// Gives the lock back.
    Release,
    /// Uses the guarded resource.
    Resource(Access),
    /// Anything else, of which the checker knows nothing.
    Other,
}

/// How an operation uses the guarded resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// Asks for its value.
    Read,
    /// Sets its value.
    Write,
    /// Sets its value if it is as expected.
    Cas,
    /// Adds to its end.
    Append,
}

impl From<&Function> for Action {
    fn from(function: &Function) -> Self {
        match function {
            Function::Acquire => Self::Acquire,
            Function::Renew => Self::Renew,
            Function::Release => Self::Release,
            Function::Read => Self::Resource(Access::Read),
            Function::Write => Self::Resource(Access::Write),
            Function::Cas => Self::Resource(Access::Cas),
            Function::Append => Self::Resource(Access::Append),
            Function::Queued
            | Function::Lost
            | Function::Suspended
            | Function::Resumed
            | Function::Ended
            | Function::Alive
            | Function::Routed
            | Function::Role
            | Function::View
            | Function::Command
            | Function::Failure
            | Function::Expired
            | Function::Stall
            | Function::Fault
            | Function::Phase
            | Function::Other(_) => Self::Other,
        }
    }
}

/// Outcome of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It took effect.
    Ok,
    /// The server's own answer: an acquire met a holder, or a compare-and-set another value.
    Refused,
    /// A renewal or a release: the server answered that the caller does not hold the lock.
    NotOwner,
    /// It certainly never executed.
    Failed,
    /// Indeterminate: it may take effect at any time after its invocation, or never.
    Unknown,
}

/// One operation on a lock or on the resource that it guards.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Index of its invocation.
    pub invoke: u64,
    /// Time at which it was sent.
    pub invoked: Nanos,
    /// Its completion, if there is one. That of an [`Outcome::Unknown`] operation only says when
    /// the client stopped waiting.
    pub completion: Option<Completion>,
    /// The lease granted or, where the reply names none, asked for. `None`: no lease. One of length
    /// zero may have run out at any time after it was asked for: nobody wrote down its length, or
    /// it goes with a session that has ended.
    pub lease: Option<Nanos>,
    /// True if an acquire without a lease holds the lock until the session of its owner ends.
    pub is_of_session: bool,
    /// True if an acquire with a lease goes with the session of its owner: the lease is what the
    /// owner may rely on, and the service keeps the lock until the session ends.
    pub is_kept_by_session: bool,
    /// Fencing token of the reply or, on the resource, of the request.
    pub token: Option<u64>,
    /// The process that sent it.
    pub process: u64,
    /// Key of the lock.
    pub key: KeyId,
    /// Owner that asks; the process number as text where the history names nobody.
    pub owner: OwnerId,
    /// True if the history names the owner. Where it does not, another process may go on in its
    /// place.
    pub is_named: bool,
    /// Permits asked for.
    pub permits: u32,
    /// Kind of the operation.
    pub action: Action,
    /// Shared or alone.
    pub mode: Mode,
    /// True if it is a renewal or a release that names no mode, of an owner that had asked for the
    /// lock in both: nobody can tell which of its holds it is about.
    pub is_vague: bool,
    /// True if the history says in which mode it is.
    pub is_mode_named: bool,
    /// Outcome of the operation.
    pub outcome: Outcome,
    /// Time from its invocation to the sending of the request that was granted; zero unless an
    /// acquire tried more than once.
    pub waited: Nanos,
    /// True if the reply names that time exactly, be it zero.
    pub is_timed: bool,
    /// True if a reply granted a validity of nothing, where a lease was asked for.
    pub is_void: bool,
    /// True if the harness sent it by itself, for a library that has no watchdog.
    pub by_harness: bool,
    /// True if the library sent it by itself, and its answer tells the client nothing.
    pub by_library: bool,
    /// True if its client was told that it may not have the lock, and the outcome is unknown all
    /// the same: a library that says no also when it could not ask.
    pub is_told_no: bool,
    /// True if the reply to a release says nothing of who held the lock.
    pub is_ownership_open: bool,
    /// How often the owner holds the lock after it, as the reply says; 0 means that it is free.
    pub count: Option<u32>,
    /// The servers that granted it, as far as the reply names them.
    pub by: Option<GiversId>,
    /// Request to the guarded resource and its answer, in
    /// [`Digest::detail`](crate::Digest::detail).
    pub detail: Option<DetailId>,
}

/// The event that completed an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Its index.
    pub index: u64,
    /// Time at which it was received.
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

    /// When the request was sent that was granted: a lease cannot have begun before.
    pub fn asked(&self) -> Nanos {
        self.invoked + self.waited
    }

    /// The time from invocation to answer, where one arrived.
    pub fn latency(&self) -> Option<Nanos> {
        self.answered().map(|answered| answered - self.invoked)
    }

    /// An acquire that was granted.
    pub fn is_grant(&self) -> bool {
        self.action == Action::Acquire && self.outcome == Outcome::Ok
    }

    /// A release after which its owner has the lock no more, by the answer.
    pub(crate) fn is_last_release(&self) -> bool {
        let is_over = match self.outcome {
            Outcome::Ok => self.count.unwrap_or(0) == 0,
            Outcome::NotOwner => true,
            Outcome::Refused | Outcome::Failed | Outcome::Unknown => false,
        };
        self.action == Action::Release && is_over
    }

    /// Tells whether it is an operation on a lock by a reader.
    pub(crate) fn is_reader(&self) -> bool {
        let is_of_lock = match self.action {
            Action::Acquire | Action::Renew | Action::Release => true,
            Action::Resource(_) | Action::Other => false,
        };
        is_of_lock && self.mode == Mode::Read
    }

    /// Where it bears on the hold of its owner, as a time and the index of an event: a release and
    /// what is indeterminate where it was sent, anything else where it was answered.
    pub(crate) fn effective_at(&self) -> (Nanos, u64) {
        let is_late = self.action != Action::Release && self.outcome != Outcome::Unknown;
        match self.completion.filter(|_| is_late) {
            Some(completion) => (completion.time, completion.index),
            None => (self.invoked, self.invoke),
        }
    }

    /// Tells whether it was answered before `next` was sent. Of one process that goes by program
    /// order; otherwise a tie counts as concurrent.
    pub(crate) fn precedes(&self, next: &Self) -> bool {
        let in_order = self.process == next.process && self.last_event() < next.invoke;
        self.answered()
            .is_some_and(|answered| answered < next.invoked || in_order && answered == next.invoked)
    }

    /// Index of the last event of it: its completion, or else its invocation.
    pub fn last_event(&self) -> u64 {
        self.completion
            .map_or(self.invoke, |completion| completion.index)
    }
}
