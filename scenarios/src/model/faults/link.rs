//! Faults of the links between nodes and clients.

use lockstorm_checker::history::FaultTarget;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::node_word::NodeTarget;
use super::parameters::{ExternalUse, FaultParameters};
use crate::model::DurationSpec;
use crate::model::system::System;

/// A directed pair of places: nodes, clients, or the groups `replicas`, `sentinels`, `nodes`,
/// `clients`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Link {
    /// Source of the bytes.
    pub from: String,
    /// Destination that they no longer reach.
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
    /// Source of the bytes.
    pub from: String,
    /// Destination that they no longer reach.
    pub to: String,
    /// Failure of the link.
    #[serde(default)]
    pub mode: CutMode,
}

impl FaultParameters for Cut {
    fn on_external(&self) -> ExternalUse {
        ExternalUse::NO_LINKS
    }
}

/// Failure of a cut link.
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
    /// Server that closes them.
    pub node: NodeTarget,
    /// Use of the connections.
    #[serde(default)]
    pub of: ConnectionUse,
    /// Only those of this client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
}

impl FaultParameters for KillConnections {
    const COMMANDS: &'static [&'static str] = &["CLIENT ID", "CLIENT LIST", "CLIENT KILL"];

    fn not_on(&self, _: System) -> Option<&'static str> {
        Some("cut the link, with mode = \"reset\"")
    }

    fn on_external(&self) -> ExternalUse {
        match self.of {
            ConnectionUse::Normal | ConnectionUse::Pubsub => ExternalUse::Ours,
            ConnectionUse::Replica => ExternalUse::Impossible(
                "only connections of the run's own clients are closed",
                "leave out `of`, or take another topology",
            ),
        }
    }
}

/// Use of a connection to a server.
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

/// Parameters of [`FaultSpec::Delay`](super::FaultSpec::Delay).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Delay {
    /// Source of the bytes.
    pub from: String,
    /// Destination that they reach later.
    pub to: String,
    /// Time by which they are late.
    pub by: DurationSpec,
    /// Further time by which they are late at most, drawn again for each piece; nothing is
    /// overtaken.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub jitter: DurationSpec,
}

impl FaultParameters for Delay {
    fn on_external(&self) -> ExternalUse {
        ExternalUse::NO_LINKS
    }
}

fn is_zero(span: &DurationSpec) -> bool {
    *span == DurationSpec::default()
}

/// Parameters of [`FaultSpec::Throttle`](super::FaultSpec::Throttle).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Throttle {
    /// Source of the bytes.
    pub from: String,
    /// Destination that they reach slowly.
    pub to: String,
    /// Bytes that pass in a second at most, on each connection.
    pub bytes_per_second: u32,
}

impl FaultParameters for Throttle {
    fn on_external(&self) -> ExternalUse {
        ExternalUse::NO_LINKS
    }
}

/// Parameters of [`FaultSpec::Lose`](super::FaultSpec::Lose).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Lose {
    /// Source of the packets.
    pub from: String,
    /// Destination that some of them never reach.
    pub to: String,
    /// Share of a hundred that are lost.
    pub percent: u32,
}

impl FaultParameters for Lose {
    fn on_external(&self) -> ExternalUse {
        ExternalUse::NO_LINKS
    }

    fn needs_packets(&self) -> bool {
        true
    }
}

/// Parameters of [`FaultSpec::Reorder`](super::FaultSpec::Reorder).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Reorder {
    /// Source of the packets.
    pub from: String,
    /// Destination that they reach in another order.
    pub to: String,
    /// Share of a hundred that stay behind.
    pub percent: u32,
    /// By how much, so that those sent meanwhile overtake them.
    pub by: DurationSpec,
}

impl FaultParameters for Reorder {
    fn on_external(&self) -> ExternalUse {
        ExternalUse::NO_LINKS
    }

    fn needs_packets(&self) -> bool {
        true
    }
}

/// Parameters of [`FaultSpec::Partition`](super::FaultSpec::Partition): either the sides, or the
/// form that they are made by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Partition {
    /// The sides: lists of nodes, clients and groups of them. Two of those that are named pass
    /// bytes to each other only where some side has both; who is on no side is not concerned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sides: Vec<Vec<String>>,
    /// Form of the partition, if no sides are named; in a storm at random.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<PartitionForm>,
    /// With `isolate-primary`: how many clients are on the side of the primary.
    #[serde(default, skip_serializing_if = "is_nobody")]
    pub clients: u32,
    /// Failure of the links between the sides.
    #[serde(default)]
    pub mode: CutMode,
}

impl FaultParameters for Partition {
    fn on_external(&self) -> ExternalUse {
        ExternalUse::NO_LINKS
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
const fn is_nobody(count: &u32) -> bool {
    *count == 0
}

/// Form of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PartitionForm {
    /// Into a smaller and a larger half.
    Halves,
    /// Each node sees a majority, and no two of them the same.
    MajoritiesRing,
    /// Into two halves with one node between them that sees both.
    Bridge,
    /// A node that takes writes, with as many clients as `clients` says, apart from all other
    /// nodes and clients.
    IsolatePrimary,
}

impl Partition {
    /// The sides that are named.
    pub(super) fn target(&self) -> FaultTarget {
        let side = |side: &Vec<String>| side.iter().map(|name| name.as_str().into()).collect();
        FaultTarget::Sides(self.sides.iter().map(side).collect())
    }

    /// It in words: `a,n1 | b,n2`, or its form.
    pub fn name(&self) -> String {
        match self.form {
            Some(PartitionForm::Halves) => "halves".to_owned(),
            Some(PartitionForm::MajoritiesRing) => "majorities-ring".to_owned(),
            Some(PartitionForm::Bridge) => "bridge".to_owned(),
            Some(PartitionForm::IsolatePrimary) => "isolate-primary".to_owned(),
            None => {
                let sides: Vec<String> = self.sides.iter().map(|side| side.join(",")).collect();
                sides.join(" | ")
            }
        }
    }
}
