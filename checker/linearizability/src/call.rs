//! Input of the engines: the calls of one lock or guarded resource, in order of invocation.
//!
//! ```text
//! a acquire |--------|                      returned: it took effect in between
//! b acquire    |- - - - - - - - - - - -     never returns: at any time after the start, or never
//! a expire                  |------|        the lease of a ends between its floor and its ceiling
//! ```
//!
//! A call that returns is part of every linearization; one that never returns is optional. Ties
//! are concurrent: a call that returns at an instant and one that is invoked at it are in no order,
//! except for two calls of one process, where the second names the first as its predecessor.
//! After an indeterminate operation a client goes on under a new process, and an owner that is
//! named nowhere is the process: so what such a call left behind belongs to an owner of its own.

use std::num::NonZeroU64;

use crate::time::Time;

/// An operation of the caller's, by the caller's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpId(pub u32);

/// An owner, by the caller's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OwnerId(pub u32);

/// Mode of a grant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Excludes everybody else.
    #[default]
    Write,
    /// Shared with other readers.
    Read,
}

/// A call, by its place among the calls of its lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub u32);

/// A lease, numbered in order of its ceiling. Where a renewal or a reentrant grant extends a hold,
/// the lease with the later ceiling counts: the greater number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeaseId(pub u32);

impl LeaseId {
    /// No lease: it never runs out, which is later than any ceiling.
    pub const NEVER: Self = Self(u32::MAX);
}

/// A value of a register, by its number in [`Values`](super::Values).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Datum(pub u32);

impl Datum {
    /// Value that a register holds before anybody has written.
    pub const NULL: Self = Self(0);
}

/// Request of a call, with what its reply says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// The lock.
    Acquire {
        /// Alone, or with other readers.
        mode: Mode,
        /// Number of permits; 1 of anything but a semaphore.
        permits: u32,
        /// The fencing token of the grant; `None` is unknown and fits everywhere.
        token: Option<NonZeroU64>,
        /// Lease of the grant.
        lease: LeaseId,
    },
    /// A longer lease.
    Renew {
        /// Mode of the hold.
        mode: Mode,
        /// The new lease.
        lease: LeaseId,
    },
    /// To give the lock back.
    Release {
        /// Mode of the hold.
        mode: Mode,
        /// Number of permits that are given back.
        permits: u32,
    },
    /// Nobody asks: the service ends the hold that has this lease, if it is still there. It follows
    /// the acquire or renewal that gave the lease.
    Expire(LeaseId),
    /// The value, and what it was.
    Read(Datum),
    /// To set the value.
    Write(Datum),
    /// To set the value if it is as expected.
    Cas {
        /// The value that it must find.
        expected: Datum,
        /// The value that it leaves.
        new: Datum,
    },
    /// To add to the end of the value.
    Append(Datum),
}

/// Observed outcome of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// It took effect; of a call that never returns: if it does, it takes effect.
    Done,
    /// It was refused, which changes nothing and tells something about the state.
    Denied,
}

/// One call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// The operation; of an expiry, the acquire or renewal that gave the lease.
    pub op: OpId,
    /// Owner that calls; of an expiry, the owner of the lease.
    pub owner: OwnerId,
    /// It took effect no earlier.
    pub invoked: Time,
    /// It took effect no later. [`Time::MAX`]: it may never take effect.
    pub returned: Time,
    /// The call that must have taken effect before it.
    pub after: Option<CallId>,
    /// Request that the call makes.
    pub request: Request,
    /// Outcome that was observed.
    pub reply: Reply,
}

impl Call {
    /// Tells whether the call is part of every linearization.
    pub fn is_required(&self) -> bool {
        self.returned < Time::MAX
    }

    /// Tells whether the call changes nothing for good if it changes nothing now. A write of the
    /// value that is already there is not such a call: after the next write it would change the
    /// value.
    pub fn is_observation(&self) -> bool {
        match (self.request, self.reply) {
            // Where an expiry changes nothing, its hold is over and does not come back.
            (_, Reply::Denied) | (Request::Read(_) | Request::Expire(_), Reply::Done) => true,
            (Request::Renew { lease, .. }, Reply::Done) => lease == LeaseId::NEVER,
            (Request::Cas { expected, new }, Reply::Done) => expected == new,
            (
                Request::Acquire { .. }
                | Request::Release { .. }
                | Request::Write(_)
                | Request::Append(_),
                Reply::Done,
            ) => false,
        }
    }

    /// Tells whether the call stands for an operation of the history.
    pub fn is_operation(&self) -> bool {
        !matches!(self.request, Request::Expire(_))
    }
}
