//! Faults of the links between nodes and clients.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::node_word::NodeTarget;

/// A directed pair of places: nodes, clients, or the groups `replicas`, `nodes`, `clients`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Link {
    /// Where bytes come from.
    pub from: String,
    /// Where they no longer arrive.
    pub to: String,
}

impl Link {
    /// Its name in notes: `from→to`.
    pub fn name(&self) -> String {
        format!("{}→{}", self.from, self.to)
    }
}

/// Parameters of [`FaultSpec::Cut`](super::FaultSpec::Cut).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Cut {
    /// Where bytes come from.
    pub from: String,
    /// Where they no longer arrive.
    pub to: String,
    /// How the link fails.
    #[serde(default)]
    pub mode: CutMode,
}

/// How a cut link behaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CutMode {
    /// Bytes wait, as behind a black hole, and go on when it heals.
    #[default]
    Stall,
    /// Connections are reset.
    Reset,
}

/// Parameters of [`FaultSpec::KillConnections`](super::FaultSpec::KillConnections).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct KillConnections {
    /// Which server closes them.
    pub node: NodeTarget,
    /// What they are used for.
    #[serde(default)]
    pub of: ConnectionUse,
    /// Only those of this client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
}

/// What a connection to a server is used for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ConnectionUse {
    /// Commands of clients.
    #[default]
    Normal,
    /// Messages to clients that have subscribed.
    Pubsub,
    /// Replicas.
    Replica,
}

impl ConnectionUse {
    /// The word of Redis's `CLIENT LIST TYPE`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Pubsub => "pubsub",
            Self::Replica => "replica",
        }
    }
}
