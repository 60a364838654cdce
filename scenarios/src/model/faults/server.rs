//! Faults of a server's process.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::node_word::NodeTarget;
use crate::model::duration::DurationSpec;

/// Parameters of [`FaultSpec::Kill`](super::FaultSpec::Kill).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Kill {
    /// Which server.
    pub node: NodeTarget,
}

/// Parameters of [`FaultSpec::Stop`](super::FaultSpec::Stop).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Stop {
    /// Which server.
    pub node: NodeTarget,
}

/// Parameters of [`FaultSpec::Restart`](super::FaultSpec::Restart).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Restart {
    /// Which server.
    pub node: NodeTarget,
    /// What it remembers.
    #[serde(default)]
    pub memory: Memory,
}

/// What a restarted server remembers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Memory {
    /// What its persistence kept.
    #[default]
    Kept,
    /// Nothing: its files are removed before the start.
    Lost,
}

/// Parameters of [`FaultSpec::Pause`](super::FaultSpec::Pause).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Pause {
    /// Which server.
    pub node: NodeTarget,
}

/// Parameters of [`FaultSpec::Promote`](super::FaultSpec::Promote).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Promote {
    /// Which replica.
    pub node: NodeTarget,
}

/// Parameters of [`FaultSpec::BusyScript`](super::FaultSpec::BusyScript).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct BusyScript {
    /// Which server.
    pub node: NodeTarget,
}

/// Parameters of [`FaultSpec::PauseCommands`](super::FaultSpec::PauseCommands).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PauseCommands {
    /// Which server.
    pub node: NodeTarget,
    /// For how long.
    #[serde(rename = "for")]
    pub length: DurationSpec,
    /// Which commands wait.
    #[serde(default)]
    pub which: PausedCommands,
}

/// Which commands a server puts off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PausedCommands {
    /// All.
    #[default]
    All,
    /// Those that may write, scripts included.
    Writes,
}

/// Parameters of [`FaultSpec::Sleep`](super::FaultSpec::Sleep).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Sleep {
    /// Which server.
    pub node: NodeTarget,
    /// For how long.
    #[serde(rename = "for")]
    pub length: DurationSpec,
}
