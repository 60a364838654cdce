//! The clients of a scenario.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::duration::{DurationRange, Span};

/// How many clients a storm has and how they behave. A litmus names its clients in its steps and
/// takes only `reply-timeout` from here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Clients {
    /// Clients of a storm, named `c0`, `c1`, ...
    pub count: u32,
    /// Lock keys that they compete for, named `lock-0`, `lock-1`, ...
    pub keys: u32,
    /// Length of a critical section.
    pub hold: DurationRange,
    /// Pause between a release and the next acquire.
    pub think: DurationRange,
    /// How long an acquire goes on trying before the client gives up the round.
    pub wait: Span,
    /// Pause between two tries of a waiting acquire.
    pub retry: DurationRange,
    /// Share of the acquires that ask for the read side, in percent.
    pub read_percent: u32,
    /// How long a client waits for a reply; then the outcome is indeterminate.
    pub reply_timeout: Span,
}

impl Default for Clients {
    fn default() -> Self {
        Self {
            count: 5,
            keys: 1,
            hold: DurationRange::from_millis(1, 10),
            think: DurationRange::from_millis(0, 10),
            wait: Span::from_secs(1),
            retry: DurationRange::from_millis(5, 20),
            read_percent: 0,
            reply_timeout: Span::from_millis(500),
        }
    }
}
