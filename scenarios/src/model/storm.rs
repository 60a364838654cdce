//! The storm: clients under load while the nemesis works through its schedule.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::duration::DurationSpec;
use super::faults::FaultSpec;

/// `[storm]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Storm {
    /// Time that the load lasts, before everything is healed and checked.
    pub duration: DurationSpec,
    /// Number of rounds that each client does; the storm ends with the last of them, and `duration`
    /// is only how long that may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u32>,
    /// In how many rounds of all clients together the lock is granted, without which the run does
    /// not show what it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grants: Option<u32>,
    /// Periods without any fault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quiet: Option<Quiet>,
}

/// Periods in which everything is healed and nothing new is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Quiet {
    /// From the end of one to the start of the next.
    pub every: DurationSpec,
    /// Time that each lasts.
    pub lasts: DurationSpec,
}

/// One `[[nemesis]]`: a fault that comes back through the whole storm.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct NemesisEntry {
    /// Fault that is injected.
    pub fault: FaultSpec,
    /// From the end of one to the start of the next, on average; drawn from half to one and a
    /// half of it.
    pub every: DurationSpec,
    /// Time that each lasts before it is healed.
    pub lasts: DurationSpec,
    /// Faults of one package come one after the other, those of several at the same time.
    #[serde(default = "main_package", skip_serializing_if = "is_main_package")]
    pub package: String,
}

fn main_package() -> String {
    "main".to_owned()
}

fn is_main_package(package: &str) -> bool {
    package == "main"
}
