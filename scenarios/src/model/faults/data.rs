//! Faults of what a server holds: keys and scripts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::node_word::NodeTarget;
use super::parameters::{ExternalUse, FaultParameters, NOT_KNOWN};
use crate::model::external::Disturbance;
use crate::model::system::System;

/// Parameters of [`FaultSpec::DeleteKey`](super::FaultSpec::DeleteKey).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct DeleteKey {
    /// The lock's key; on etcd and ZooKeeper, all below it too.
    pub key: String,
    /// On which server; absent means on the one that takes writes, or on every master.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeTarget>,
}

impl FaultParameters for DeleteKey {
    fn not_on(&self, system: System) -> Option<&'static str> {
        (system == System::Custom).then_some(NOT_KNOWN)
    }

    fn on_external(&self) -> ExternalUse {
        ExternalUse::Ours
    }
}

/// Parameters of [`FaultSpec::FlushAll`](super::FaultSpec::FlushAll).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct FlushAll {
    /// Name of the server.
    pub node: NodeTarget,
}

impl FaultParameters for FlushAll {
    fn not_on(&self, _: System) -> Option<&'static str> {
        Some("it sends a command of Redis")
    }

    fn on_external(&self) -> ExternalUse {
        ExternalUse::Impossible(
            "it would delete the keys of others",
            "delete-key deletes a key of the run's own",
        )
    }
}

/// Parameters of [`FaultSpec::FlushScripts`](super::FaultSpec::FlushScripts).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct FlushScripts {
    /// Name of the server.
    pub node: NodeTarget,
}

impl FaultParameters for FlushScripts {
    const COMMANDS: &'static [&'static str] = &["SCRIPT LOAD", "SCRIPT EXISTS"];

    fn not_on(&self, _: System) -> Option<&'static str> {
        Some("only Redis caches scripts")
    }

    fn on_external(&self) -> ExternalUse {
        ExternalUse::Felt(Disturbance::FlushScripts)
    }
}

/// Parameters of [`FaultSpec::Evict`](super::FaultSpec::Evict).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Evict {
    /// The lock's key.
    pub key: String,
    /// On which server.
    pub node: NodeTarget,
    /// Keys that the server may evict.
    #[serde(default)]
    pub policy: EvictionPolicy,
}

impl FaultParameters for Evict {
    fn not_on(&self, _: System) -> Option<&'static str> {
        Some("only Redis evicts keys")
    }

    fn on_external(&self) -> ExternalUse {
        ExternalUse::Impossible(
            "it would evict the keys of others",
            "delete-key deletes a key of the run's own",
        )
    }
}

/// Keys that a server may evict when its memory is full.
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
