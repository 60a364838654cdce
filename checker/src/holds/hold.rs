//! One hold: an acquire, what follows from it, and the intervals in which it counts.
//!
//! ```text
//!        acquire               release
//!     sent  answered         sent  answered
//!       |------|===============|------|
//!       ^      ^ core: in every reading of the history
//!       hull: in some reading; without a release it has no end of its own
//! ```
//!
//! The intervals of a hold are those of the table "Intervals of a hold" in the definitions. Three
//! readings are fixed here, all so that nobody is accused falsely:
//! - The guaranteed hold also ends where the client was told that it lost the lock. Who knows
//!   that the lock is gone does not hold it in its own belief; that the service took it away
//!   early is another property, the lost lock.
//! - The guaranteed hold reaches only up to the last renewal or release that was granted, where an
//!   earlier release of the owner had no answer and may yet arrive. A release that names a token
//!   ends no other grant, and one that a grant inside the lease shows to be done ends nothing more.
//! - The ceiling moves on by the length of each renewal that was indeterminate: it may have taken
//!   effect, at the latest when the lease was at its end.

use crate::history::{Mode, Nanos};
use crate::operations::{Digest, Interval, KeyId, Lease, OpId, Operation, OwnerId};

/// Hold that one acquire led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hold {
    /// Key of the lock.
    pub key: KeyId,
    /// Owner of the hold.
    pub owner: OwnerId,
    /// Shared or alone.
    pub mode: Mode,
    /// Permits that it takes.
    pub permits: u32,
    /// The acquire.
    pub acquire: OpId,
    /// The later operation that proves an indeterminate acquire.
    pub proof: Option<OpId>,
    /// The release that ended it.
    pub release: Option<OpId>,
    /// The first release that gave back only one of several grants, by the service's own word.
    pub partial: Option<OpId>,
    /// Request of its owner after it had given up the hold, or operation that may have ended it
    /// without being certainly about it.
    pub anew: Option<OpId>,
    /// The first renewal or release of it that was answered "not owner" inside the lease, unless
    /// that may be the work of a release that was under way.
    pub denial: Option<OpId>,
    /// Number of renewals that were granted.
    pub renewals: u32,
    /// Fencing token.
    pub token: Option<u64>,
    /// From the grant (or its proof) to the invocation of the release; empty while unproved. An
    /// owner that asks again after its lease has thereby given up the hold before.
    pub core: Interval,
    /// From the invocation of the acquire to the answer of the release.
    pub hull: Interval,
    /// The ends of its lease; the floor is zero while nothing proves the acquire.
    pub lease: Lease,
    /// True if nobody wrote down how long the lease is, so that nobody can have overrun it.
    pub is_open_ended: bool,
    /// Time at which the client was first told that it lost the lock; [`Nanos::MAX`] if never.
    pub told_lost: Nanos,
    /// Where an earlier release of its owner, which was never answered, may yet end it: up to when
    /// it was certainly there. [`Nanos::MAX`] otherwise.
    pub shown: Nanos,
    /// Up to when the owner is known to have acted as holder, unless it left before: as long as it
    /// is known to be alive; where no release says when it left, up to the end of its lease
    /// or the last that it did as holder.
    pub acting: Nanos,
    /// Up to when the session of its owner may have kept it after a release that may not have
    /// arrived; zero if no session keeps it.
    pub lingers: Nanos,
}

impl Hold {
    /// Tells whether the acquire was granted, by its own answer or by a later proof. Otherwise it
    /// may explain other observations, and never accuses.
    pub fn is_granted(&self) -> bool {
        self.core.start < Nanos::MAX
    }

    /// Tells whether it has a lease that can run out.
    pub fn is_leased(&self) -> bool {
        self.lease.floor < Nanos::MAX && !self.is_open_ended
    }

    /// Tells whether the service had not counted a grant to its owner before: who is granted the
    /// lock once more had it already, and took it from nobody.
    pub(crate) fn is_fresh(&self, digest: &Digest) -> bool {
        let count = digest.operation(self.acquire).count;
        count.is_none_or(|count| count <= 1)
    }

    /// The lease that it was granted for; none where it goes with a session, whose end is kept as
    /// that of a lease.
    pub fn own_lease(&self, digest: &Digest) -> Lease {
        if digest.operation(self.acquire).is_of_session {
            Lease::NONE
        } else {
            self.lease
        }
    }

    /// Tells whether its lease was good for some time when its owner learned of it; one whose
    /// length nobody knows may have been.
    pub(crate) fn is_good_on_arrival(&self, digest: &Digest) -> bool {
        let is_known = !self.is_open_ended && !digest.operation(self.acquire).is_of_session;
        !is_known || self.lease.floor > self.core.start
    }

    /// Time at which its owner stopped to take itself for the holder: it released, asked anew, or
    /// was told that it had lost the lock. [`Nanos::MAX`] if it never did.
    pub fn left(&self) -> Nanos {
        self.core.end.min(self.told_lost)
    }

    /// Its owner asked for something else that takes its place, or may have taken it.
    pub(crate) fn give_up(&mut self, id: OpId, anew: &Operation) {
        self.core.end = self.core.end.min(anew.invoked);
        self.anew = self.anew.or(Some(id));
    }

    /// Held in the client's belief and inside the lease; may be empty.
    pub fn guaranteed(&self) -> Interval {
        let end = self.core.end.min(self.lease.floor);
        Interval::new(self.core.start, end.min(self.told_lost).min(self.shown))
    }

    /// The client acts as holder: as far as that is known, and it has not been told otherwise.
    pub fn belief(&self) -> Interval {
        let acting = self.acting.max(self.core.start);
        Interval::new(self.core.start, self.left().min(acting))
    }

    /// The part of the belief in which the lease may have run out; certainly after the ceiling.
    pub fn overrun(&self) -> Interval {
        let belief = self.belief();
        if self.is_open_ended {
            return Interval::new(belief.end, belief.end);
        }
        Interval::new(belief.start.max(self.lease.floor), belief.end)
    }

    /// When the service may regard the lock as held: the hull, cut where the lease has certainly
    /// run out, and no session keeps it.
    pub fn possible(&self) -> Interval {
        let kept = self.lease.ceiling.max(self.lingers);
        Interval::new(self.hull.start, self.hull.end.min(kept))
    }
}
