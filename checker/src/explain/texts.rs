//! The texts, each in a file of its own.

use crate::verdict::Property;

impl Property {
    /// Says in one line what counts as a violation.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::MutualExclusion => "two owners hold one lock at once, both inside their leases",
            Self::LostLock => "the service drops a lock before its lease could run out",
            Self::LeaseOverrun => "a client goes on after its lease while another holds the lock",
            Self::DeadOnArrival => "a lease is over when its owner learns that it was granted",
            Self::Fencing => "fencing tokens do not grow, or the resource takes a stale one",
            Self::Ownership => "a lock is lost by the release of another",
            Self::Reentrancy => "a reentrant lock miscounts, or is freed by a partial release",
            Self::GuardedResource => "what the lock protects is damaged",
            Self::SpuriousRefusal => "a try is refused though the lock was certainly free",
            Self::Leftover => "a token stays behind that its owner does not know of",
            Self::LossNotice => "a holder is not told within one lease that it has lost the lock",
            Self::Progress => "a call hangs, or the process of a client ends by itself",
            Self::Fairness => "somebody is granted the lock before one who queued earlier",
            Self::Liveness => "a free lock cannot be had within a named bound",
            Self::Availability => {
                "nobody gets a lock that is wanted and free, for longer than a bound"
            }
            Self::Model => "no order of the operations is one that the chosen model allows",
        }
    }

    /// Says what is seen of a violation, in a few words that fit into a picture.
    pub const fn brief(self) -> &'static str {
        match self {
            Self::MutualExclusion => "at once",
            Self::LostLock => "lost inside its lease",
            Self::LeaseOverrun => "one past its lease",
            Self::DeadOnArrival => "granted too late",
            Self::Fencing => "stale token",
            Self::Ownership => "released by another",
            Self::Reentrancy => "miscounted",
            Self::GuardedResource => "damaged",
            Self::SpuriousRefusal => "refused though free",
            Self::Leftover => "left behind",
            Self::LossNotice => "not told",
            Self::Progress => "client failed",
            Self::Fairness => "overtaken",
            Self::Liveness => "cannot be had",
            Self::Availability => "no grant",
            Self::Model => "in no order",
        }
    }

    /// The long text: definition, whose fault it is, an example, what to do, where it is from.
    pub const fn explain(self) -> &'static str {
        match self {
            Self::MutualExclusion => include_str!("mutual_exclusion.txt"),
            Self::LostLock => include_str!("lost_lock.txt"),
            Self::LeaseOverrun => include_str!("lease_overrun.txt"),
            Self::DeadOnArrival => include_str!("dead_on_arrival.txt"),
            Self::Fencing => include_str!("fencing.txt"),
            Self::Ownership => include_str!("ownership.txt"),
            Self::Reentrancy => include_str!("reentrancy.txt"),
            Self::GuardedResource => include_str!("guarded_resource.txt"),
            Self::SpuriousRefusal => include_str!("spurious_refusal.txt"),
            Self::Leftover => include_str!("leftover.txt"),
            Self::LossNotice => include_str!("loss_notice.txt"),
            Self::Progress => include_str!("progress.txt"),
            Self::Fairness => include_str!("fairness.txt"),
            Self::Liveness => include_str!("liveness.txt"),
            Self::Availability => include_str!("availability.txt"),
            Self::Model => include_str!("model.txt"),
        }
    }
}
