//! The one table of promises: claims that a lock makes to its callers.

use lockstorm_checker::Property;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A line is: the promise in a sentence; its word; its name in code; and the properties by which it
/// is judged. The first of them decides: where it cannot be told, nothing can. A violation of any
/// breaks the promise.
macro_rules! with_every_promise {
    ($callback:ident) => {
        $callback! {
            /// Two owners never hold the lock inside their leases.
            "exclusive" => Exclusive by [MutualExclusion, LostLock],
            /// A lock that is granted is still good when the caller learns of it.
            "valid-on-return" => ValidOnReturn by [DeadOnArrival],
            /// Nobody frees the lock of another.
            "own-release" => OwnRelease by [Ownership],
            /// A try that failed or was given up, and a finished release, leave nothing that blocks
            /// others for longer than one lease.
            "leaves-nothing" => LeavesNothing by [Leftover],
            /// Each call returns within its bound, and the client's process lives.
            "settles" => Settles by [Progress],
            /// A refusal means that somebody else had the lock.
            "honest-refusal" => HonestRefusal by [SpuriousRefusal],
            /// A lock that is free, with its servers up, can be had.
            "obtainable" => Obtainable by [Liveness, Availability],
            /// A holder that renews stays holder through any disturbance shorter than its lease.
            "keeps-alive" => KeepsAlive by [LostLock, LeaseOverrun],
            /// A holder is told within one lease that it has lost the lock.
            "tells-of-loss" => TellsOfLoss by [LossNotice],
            /// A minority of servers may be down, slow, cut off or empty: the lock stays exclusive
            /// and obtainable.
            "survives-minority" => SurvivesMinority by [MutualExclusion, LostLock, Liveness],
            /// A failover of the service loses no granted lock.
            "survives-failover" => SurvivesFailover by [MutualExclusion, LostLock],
            /// A restart of any server with its disk loses no granted lock.
            "survives-restart" => SurvivesRestart by [MutualExclusion, LostLock],
            /// Fencing tokens grow with each grant.
            "fenced" => Fenced by [Fencing],
            /// A holder may take the lock again, and frees it with its last release.
            "reentrant" => Reentrant by [Reentrancy, MutualExclusion],
            /// Waiters are served in the order in which they came.
            "fair" => Fair by [Fairness],
            /// Readers share the lock, and a writer is alone.
            "shared-readers" => SharedReaders by [MutualExclusion, LostLock],
            /// No more permits are held than there are.
            "permits" => Permits by [MutualExclusion],
        }
    };
}

macro_rules! promise {
    ($(
        $(#[doc = $sentence:literal])+
        $word:literal => $Promise:ident by [$($Property:ident),+],
    )*) => {
        /// A claim that a lock makes to its callers.
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
        )]
        pub enum Promise {
            $(
                $(#[doc = $sentence])+
                #[serde(rename = $word)]
                $Promise,
            )*
        }

        impl Promise {
            /// All of them, in the order of reports.
            pub const ALL: [Self; [$($word),*].len()] = [$(Self::$Promise),*];

            /// Name in scenarios, on the command line and in the headers of histories.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$Promise => $word,)*
                }
            }

            /// The promise in a sentence.
            pub const fn sentence(self) -> &'static str {
                match self {
                    $(Self::$Promise => concat!($($sentence),+).trim_ascii(),)*
                }
            }

            /// Properties by which it is judged, the one first without which nothing can be told.
            pub const fn properties(self) -> &'static [Property] {
                match self {
                    $(Self::$Promise => &[$(Property::$Property),+],)*
                }
            }
        }
    };
}

with_every_promise!(promise);

impl Promise {
    /// Tells whether it is about something that only some locks do at all, such as queues. Whether
    /// another lock would keep it says nothing.
    pub const fn is_feature(self) -> bool {
        matches!(
            self,
            Self::KeepsAlive
                | Self::TellsOfLoss
                | Self::Fenced
                | Self::Reentrant
                | Self::Fair
                | Self::SharedReaders
                | Self::Permits
        )
    }

    /// Promises that every lock makes unless somebody says otherwise: no user of any lock would do
    /// without them.
    pub const OF_EVERY_LOCK: [Self; 7] = [
        Self::Exclusive,
        Self::ValidOnReturn,
        Self::OwnRelease,
        Self::LeavesNothing,
        Self::Settles,
        Self::HonestRefusal,
        Self::Obtainable,
    ];
}
