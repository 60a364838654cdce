//! The one table of the properties.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Hands the table to another macro, so that what needs something of each property (its name here,
/// its rule in the checker) cannot forget one.
///
/// A line is: what counts as a violation, as developers read it; its name on the command line, in
/// scenarios and in reports; its name in code; the module of its rule, which is also the file of
/// its long text; whether a violation does harm by itself (`Safety`) or only makes people wait
/// (`Waiting`); what counts as a violation, in one line for users; and what is seen of one, in a
/// few words that fit into a picture.
macro_rules! with_every_property {
    ($callback:ident) => {
        $callback! {
            /// Two guaranteed holds of distinct owners overlap.
            "mutual-exclusion" => MutualExclusion, mutual_exclusion, Safety,
                "two owners hold one lock at once, both inside their leases", "at once";
            /// A holder was told, or it was seen, inside its lease that the lock is gone.
            "lost-lock" => LostLock, lost_lock, Safety,
                "the service drops a lock before its lease could run out", "lost inside its lease";
            /// A client took itself for the holder after its lease, while another held.
            "lease-overrun" => LeaseOverrun, lease_overrun, Safety,
                "a client goes on after its lease, or its session, while another holds the lock",
                "one beyond its time";
            /// A lease was over when its owner was told that it was granted or renewed.
            "dead-on-arrival" => DeadOnArrival, dead_on_arrival, Safety,
                "a lease is over when its owner learns that it was granted", "granted too late";
            /// A fencing token did not grow, or the resource took a smaller one after a larger one.
            "fencing" => Fencing, fencing, Safety,
                "fencing tokens do not grow, or the resource takes a stale one", "stale token";
            /// A holder lost the lock by the release of somebody else.
            "ownership" => Ownership, ownership, Safety,
                "a lock is lost by the release of another", "released by another";
            /// The grants of a reentrant lock were miscounted, or a partial release freed it.
            "reentrancy" => Reentrancy, reentrancy, Safety,
                "a reentrant lock miscounts, or is freed by a partial release", "miscounted";
            /// Damage to what the lock protects: a lost update, a double effect, a stale write.
            "guarded-resource" => GuardedResource, guarded_resource, Safety,
                "what the lock protects is damaged", "damaged";
            /// A try was refused although the lock was certainly free.
            "spurious-refusal" => SpuriousRefusal, spurious_refusal, Waiting,
                "a try is refused though the lock was certainly free", "refused though free";
            /// A server keeps the token of an owner that gave up or gave back the lock.
            "leftover" => Leftover, leftover, Waiting,
                "a token stays behind that its owner does not know of", "left behind";
            /// A holder was not told within one lease that it had lost the lock.
            "loss-notice" => LossNotice, loss_notice, Safety,
                "a holder is not told within one lease that it has lost the lock", "not told";
            /// A client did not answer within its bound, or its process ended by itself.
            "progress" => Progress, progress, Safety,
                "a call hangs, or the process of a client ends by itself", "client failed";
            /// A lock was granted to somebody before one who was in its queue already.
            "fairness" => Fairness, fairness, Waiting,
                "somebody is granted the lock before one who queued earlier", "overtaken";
            /// A free lock could not be had within a named bound.
            "liveness" => Liveness, liveness, Waiting,
                "a free lock cannot be had within a named bound", "cannot be had";
            /// Nobody was granted a lock that was wanted and free, for longer than a bound.
            "availability" => Availability, availability, Waiting,
                "a free lock that is asked for cannot be had for longer than a bound", "no grant";
            /// No order of the operations is one that the chosen model allows.
            "model" => Model, model, Safety,
                "no order of the operations is one that the chosen model allows", "in no order";
        }
    };
}

pub(crate) use with_every_property;

macro_rules! property {
    ($(
        #[doc = $doc:literal]
        $name:literal => $Property:ident, $file:ident, $Kind:ident,
            $summary:literal, $brief:literal;
    )*) => {
        /// Property that is judged, apart from all others.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Property {
            $(
                #[doc = $doc]
                $Property,
            )*
        }

        impl Property {
            /// All of them, in the order of reports.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$Property),*];

            const fn kind(self) -> Kind {
                match self {
                    $(Self::$Property => Kind::$Kind,)*
                }
            }

            /// The name used on the command line, in scenarios and in reports.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$Property => $name,)*
                }
            }

            /// Says in one line what counts as a violation.
            pub const fn summary(self) -> &'static str {
                match self {
                    $(Self::$Property => $summary,)*
                }
            }

            /// Says what is seen of a violation, in a few words that fit into a picture.
            pub const fn brief(self) -> &'static str {
                match self {
                    $(Self::$Property => $brief,)*
                }
            }

            /// The long text: definition, whose fault it is, an example, what to do, where it is
            /// from.
            pub const fn explain(self) -> &'static str {
                match self {
                    $(Self::$Property => {
                        include_str!(concat!("explain/", stringify!($file), ".txt"))
                    })*
                }
            }
        }
    };
}

with_every_property!(property);

/// Effect of a violation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Harm by itself.
    Safety,
    /// It makes people wait, and no more.
    Waiting,
}

impl Property {
    /// Tells whether a violation does harm by itself. Violations of the others only make people
    /// wait.
    pub const fn is_safety(self) -> bool {
        matches!(self.kind(), Kind::Safety)
    }
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A property name that nobody knows.
#[derive(Debug, thiserror::Error)]
#[error("unknown property '{0}'; `lockstorm list properties` names them all")]
pub struct UnknownProperty(pub String);

impl FromStr for Property {
    type Err = UnknownProperty;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|property| property.name() == name)
            .ok_or_else(|| UnknownProperty(name.to_owned()))
    }
}
