//! Which Redisson a lock behaves like: what changed between its versions and can be seen.
//!
//! Source: the change log and the public source of the versions named.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::duration::{DurationRange, DurationSpec};
use super::sync::Sync;

/// A Redisson whose behaviour differs from that of the others.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum Era {
    /// 3.10.6 of 2019: asks no replica, sends a command again that has no reply, and whatever is
    /// repeated counts twice.
    #[serde(rename = "3.10")]
    V3_10,
    /// 3.17.0 of 2022: asks every replica; a grant that one of them did not confirm is an error,
    /// and stays.
    #[serde(rename = "3.17")]
    V3_17,
    /// 4.7.0 of 2026: asks for one replica, withdraws a grant that none has, remembers under a
    /// latch what an unlock did, and renews in batches.
    #[default]
    #[serde(rename = "4.7")]
    V4_7,
}

impl Era {
    /// The word used in scenario files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::V3_10 => "3.10",
            Self::V3_17 => "3.17",
            Self::V4_7 => "4.7",
        }
    }

    /// Replicas that it asks for unless told otherwise.
    pub const fn sync(self) -> Sync {
        match self {
            Self::V3_10 => Sync::Off,
            Self::V3_17 => Sync::All,
            Self::V4_7 => Sync::Any,
        }
    }

    /// Tells whether it knows WAIT at all; it came with 3.12.5.
    pub const fn asks_replicas(self) -> bool {
        match self {
            Self::V3_10 => false,
            Self::V3_17 | Self::V4_7 => true,
        }
    }

    /// Tells whether it gives back a grant that too few replicas have.
    pub const fn withdraws(self) -> bool {
        match self {
            Self::V3_10 | Self::V3_17 => false,
            Self::V4_7 => true,
        }
    }

    /// Tells whether an unlock is remembered, so that a repetition does nothing; from 3.24.0 on.
    pub const fn has_latch(self) -> bool {
        match self {
            Self::V3_10 | Self::V3_17 => false,
            Self::V4_7 => true,
        }
    }

    /// How often a command that has no reply is sent again, by default; from 3.37.0 on, those that
    /// take or give back a lock are not, unless they go to replicas as well: then they are in one
    /// batch with WAIT, and that is sent again all the same, `retry_attempts` times.
    pub const fn sends_again(self) -> u32 {
        match self {
            Self::V3_10 | Self::V3_17 => 3,
            Self::V4_7 => 0,
        }
    }

    /// How often a command is sent again for which there was no connection (`retryAttempts`), by
    /// default; where `sends_again` says so, also one that has no reply.
    pub const fn retry_attempts(self) -> u32 {
        match self {
            Self::V3_10 | Self::V3_17 => 3,
            Self::V4_7 => 4,
        }
    }

    /// The pause before it sends a command again that has no reply, drawn from this, where it did
    /// so so often already.
    pub const fn pause_after_silence(self, already: u32) -> DurationRange {
        match self {
            Self::V3_10 => DurationRange::from_millis(0, 0),
            Self::V3_17 | Self::V4_7 => self.retry_pause(already),
        }
    }

    /// The pause before it looks for a connection again, drawn from this (`retryInterval`,
    /// `retryDelay`), by default, where it did so so often already.
    pub const fn retry_pause(self, already: u32) -> DurationRange {
        match (self, already) {
            (Self::V3_10 | Self::V3_17, _) => DurationRange::from_millis(1500, 1500),
            (Self::V4_7, 0) => DurationRange::from_millis(500, 1000),
            (Self::V4_7, _) => DurationRange::from_millis(1000, 2000),
        }
    }

    /// Words with which refusals begin after which it sends a command again, whatever the command
    /// is: the server has done nothing.
    pub const fn refusals_tried_again(self) -> &'static [&'static str] {
        match self {
            Self::V3_10 => &["LOADING", "TRYAGAIN"],
            Self::V3_17 => &["LOADING", "TRYAGAIN", "CLUSTERDOWN", "BUSY"],
            Self::V4_7 => &[
                "LOADING",
                "TRYAGAIN",
                "CLUSTERDOWN",
                "BUSY",
                "MASTERDOWN",
                "NOREPLICAS",
            ],
        }
    }

    /// The pause before that, where a command was sent again so often already, by a client that
    /// waits so many milliseconds for a reply.
    pub const fn pause_after_refusal(self, already: u32, timeout_ms: u64) -> DurationRange {
        match self {
            Self::V3_10 if timeout_ms < 1000 => DurationRange::from_millis(timeout_ms, timeout_ms),
            Self::V3_10 => DurationRange::from_millis(1000, 1000),
            Self::V3_17 | Self::V4_7 => self.retry_pause(already),
        }
    }

    /// Tells whether its pool gives out the connection that came back last, also where a reply on
    /// it is late; the older ones give out one after the other.
    pub const fn uses_last_connection(self) -> bool {
        match self {
            Self::V3_10 | Self::V3_17 => false,
            Self::V4_7 => true,
        }
    }

    /// Tells whether it counts the replicas of a primary once, and again after a surprise only,
    /// whoever is primary by then; the older ones know which servers there are.
    pub const fn keeps_count_of_replicas(self) -> bool {
        match self {
            Self::V3_10 | Self::V3_17 => false,
            Self::V4_7 => true,
        }
    }

    /// Tells whether `MultiLock.unlock` gives back one sub-lock after the other, and stops at the
    /// first that it cannot; the older ones ask all at once.
    pub const fn unlock_stops_half_way(self) -> bool {
        match self {
            Self::V3_10 | Self::V3_17 => false,
            Self::V4_7 => true,
        }
    }

    /// Tells whether a `MultiLock` that gives up asks all at once to give back what it has taken.
    pub const fn gives_back_at_once(self) -> bool {
        match self {
            Self::V3_10 => true,
            Self::V3_17 | Self::V4_7 => false,
        }
    }

    /// Tells whether a `MultiLock` with a lease that may not wait takes its sub-locks for no time
    /// at all, twice a wait that is not there; until 3.11.1.
    pub const fn takes_without_a_wait_for_nothing(self) -> bool {
        match self {
            Self::V3_10 => true,
            Self::V3_17 | Self::V4_7 => false,
        }
    }

    /// Tells whether in a Cluster it tells only the shard of a lock of its release; from 3.22.0 on.
    pub const fn publishes_to_shards(self) -> bool {
        match self {
            Self::V3_10 | Self::V3_17 => false,
            Self::V4_7 => true,
        }
    }

    /// How many locks one renewal script is for; batches came with 3.43.0.
    pub const fn renewal_batch(self) -> usize {
        match self {
            Self::V3_10 | Self::V3_17 => 1,
            Self::V4_7 => 100,
        }
    }

    /// Tells whether a waiter of a fair lock is presumed dead after the time that it says it waits.
    pub const fn heeds_waits(self) -> bool {
        match self {
            Self::V3_10 => false,
            Self::V3_17 | Self::V4_7 => true,
        }
    }

    /// After how long any other waiter of a fair lock is presumed dead, unless told otherwise.
    pub const fn fair_wait(self) -> DurationSpec {
        match self {
            Self::V3_10 => DurationSpec::from_secs(5),
            Self::V3_17 | Self::V4_7 => DurationSpec::from_secs(300),
        }
    }
}
