//! The first line of a history file: what the events below it belong to.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

/// Name of the format, in the header's `format`.
pub const FORMAT: &str = "lockstorm-history";
/// Version that this crate writes, and the newest that it reads. Version 1 has faults in words.
pub const VERSION: u32 = 2;

/// The optional first line of `history.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`] of the writer.
    pub version: u32,
    /// Name of the scenario.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    /// Seed of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Wall clock at time zero, RFC 3339, UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<String>,
    /// Drift taken off every lease: share of the lease in parts per million, and milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift_ppm: Option<u64>,
    /// Fixed part of the drift, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift_ms: Option<u64>,
    /// Number of permits that the lock has (1 for a mutex).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permits: Option<u32>,
    /// Longest stretch without a grant that is allowed, in milliseconds; absent means any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub availability_gap_ms_max: Option<u64>,
    /// Largest amount by which the clock of each process may be off, ahead or behind, in
    /// milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_error_ms: Option<u64>,
    /// Largest clock error of single processes in milliseconds, by number or by the name of their
    /// owner.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub clock_error_ms_of: BTreeMap<String, u64>,
    /// Prefix of the run's keys on servers that somebody else runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// `true` if each call is one request of the lock, sent when the call was invoked, unless its
    /// reply says how long it waited. Absent where a library may wait or ask again by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asks_once: Option<bool>,
    /// `true` if a reply that says how long its call waited says the least of it: the request that
    /// was granted may have been sent later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_at_least: Option<bool>,
    /// Time for which the servers may go on with a lease that is over, in milliseconds: as those do
    /// that look for such leases now and then, or begin them anew when another leads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends_late_ms: Option<u64>,
    /// Names of the promises that the lock makes beyond those that all make.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub promises: Vec<String>,
    /// `true` if each client that hung or crashed was noted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes_failures: Option<bool>,
    /// Fields that this version does not know; kept, never refused.
    #[serde(flatten)]
    pub extra: Map<String, Json>,
}

impl Header {
    /// A header of this version with nothing known of the run.
    pub fn new() -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            scenario: None,
            seed: None,
            started: None,
            drift_ppm: None,
            drift_ms: None,
            permits: None,
            availability_gap_ms_max: None,
            clock_error_ms: None,
            clock_error_ms_of: BTreeMap::new(),
            prefix: None,
            asks_once: None,
            waits_at_least: None,
            ends_late_ms: None,
            promises: Vec::new(),
            notes_failures: None,
            extra: Map::new(),
        }
    }

    /// Tells whether Lockstorm recorded what follows, and did not only write it down for others.
    pub fn is_recorded(&self) -> bool {
        self.scenario.is_some() && self.seed.is_some() && self.started.is_some()
    }
}

impl Default for Header {
    fn default() -> Self {
        Self::new()
    }
}
