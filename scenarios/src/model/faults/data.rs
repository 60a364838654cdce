//! Faults of what a server holds: keys and scripts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::node_word::NodeTarget;

/// Parameters of [`FaultSpec::DeleteKey`](super::FaultSpec::DeleteKey).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct DeleteKey {
    /// The lock's key.
    pub key: String,
    /// On which server; absent means on the one that takes writes, or on every master.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeTarget>,
}

/// Parameters of [`FaultSpec::FlushAll`](super::FaultSpec::FlushAll).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct FlushAll {
    /// Which server.
    pub node: NodeTarget,
}

/// Parameters of [`FaultSpec::FlushScripts`](super::FaultSpec::FlushScripts).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct FlushScripts {
    /// Which server.
    pub node: NodeTarget,
}

/// Parameters of [`FaultSpec::Evict`](super::FaultSpec::Evict).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Evict {
    /// The lock's key.
    pub key: String,
    /// On which server.
    pub node: NodeTarget,
    /// Which keys the server may evict.
    #[serde(default)]
    pub policy: EvictionPolicy,
}

/// Which keys a server may evict when its memory is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EvictionPolicy {
    /// Those with an expiry, such as locks.
    #[default]
    VolatileLru,
    /// All.
    AllkeysLru,
}

impl EvictionPolicy {
    /// The word of Redis's `maxmemory-policy`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::VolatileLru => "volatile-lru",
            Self::AllkeysLru => "allkeys-lru",
        }
    }
}
