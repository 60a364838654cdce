//! The faults that a scenario can name, as values.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A fault with its target, as `<kind> = { ... }`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FaultSpec {
    /// SIGKILL of a server.
    Kill(Kill),
    /// SIGKILL of a server that may still run, then a start.
    Restart(Restart),
    /// SIGSTOP of a server.
    Pause(Pause),
    /// Nothing passes from one place to another.
    Cut(Cut),
    /// A replica becomes primary, and clients follow it.
    Promote(Promote),
    /// A client stands still: it sends and reads nothing.
    PauseClient(PauseClient),
    /// A client dies.
    KillClient(KillClient),
    /// An operator deletes a lock's key.
    DeleteKey(DeleteKey),
}

/// A node by name, or in a storm `one` (drawn at random), `all`, `minority` or `primary`.
pub type NodeTarget = String;

/// Parameters of [`FaultSpec::Kill`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Kill {
    /// Which server.
    pub node: NodeTarget,
}

/// Parameters of [`FaultSpec::Restart`].
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

/// Parameters of [`FaultSpec::Pause`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Pause {
    /// Which server.
    pub node: NodeTarget,
}

/// A directed pair of places: nodes, clients, or the groups `replicas`, `nodes`, `clients`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Link {
    /// Where bytes come from.
    pub from: String,
    /// Where they no longer arrive.
    pub to: String,
}

/// Parameters of [`FaultSpec::Cut`].
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

/// Parameters of [`FaultSpec::Promote`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Promote {
    /// Which replica.
    pub node: NodeTarget,
}

/// Parameters of [`FaultSpec::PauseClient`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PauseClient {
    /// Which client; in a storm also `one`.
    pub client: String,
}

/// Parameters of [`FaultSpec::KillClient`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct KillClient {
    /// Which client; in a storm also `one`.
    pub client: String,
    /// Die once this many further commands were answered; absent means at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_commands: Option<u32>,
}

/// Parameters of [`FaultSpec::DeleteKey`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct DeleteKey {
    /// The lock's key.
    pub key: String,
    /// On which server; absent means on the one that takes writes, or on every master.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeTarget>,
}

impl FaultSpec {
    /// The word used in scenario files and histories.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Kill(_) => "kill",
            Self::Restart(_) => "restart",
            Self::Pause(_) => "pause",
            Self::Cut(_) => "cut",
            Self::Promote(_) => "promote",
            Self::PauseClient(_) => "pause-client",
            Self::KillClient(_) => "kill-client",
            Self::DeleteKey(_) => "delete-key",
        }
    }
}
