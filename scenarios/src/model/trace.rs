//! Questions to the servers themselves while a run lasts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A kind of evidence that servers give. It explains; no verdict rests on it.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Trace {
    /// Knowledge of each server about each lock, asked after each step, and in a storm at each
    /// stage of a fault and four times a second: notes `view` in the history.
    Probe,
    /// Commands that each server is sent for each lock: notes `command` in the history, and all of
    /// its MONITOR in `nodes/<name>/monitor.log`. Servers of Redis only.
    Monitor,
}

impl Trace {
    /// Both kinds.
    pub const ALL: [Self; 2] = [Self::Probe, Self::Monitor];

    /// The word used in scenario files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Probe => "probe",
            Self::Monitor => "monitor",
        }
    }
}
