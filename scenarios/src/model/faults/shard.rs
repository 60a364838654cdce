//! Faults of a Cluster: which slots are in a shard.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::node_word::NodeTarget;
use super::parameters::{ExternalUse, FaultParameters};
use crate::model::system::System;

/// Parameters of [`FaultSpec::MigrateSlot`](super::FaultSpec::MigrateSlot).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct MigrateSlot {
    /// A lock's key, whose slot moves with all that is in it.
    pub key: String,
    /// To which master; absent means to any other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<NodeTarget>,
    /// Distance that it gets.
    #[serde(default)]
    pub until: Way,
}

impl FaultParameters for MigrateSlot {
    fn not_on(&self, _: System) -> Option<&'static str> {
        Some("only a Cluster of Redis has slots")
    }

    fn on_external(&self) -> ExternalUse {
        ExternalUse::Impossible("these are no servers of a Cluster", "take topology.cluster")
    }
}

/// How far a slot gets that moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// Both shards know that it moves; its keys are where they were.
    Open,
    /// Its keys have moved, and the old shard still has the slot.
    Keys,
    /// All the way.
    #[default]
    Done,
}
