//! Which real servers a scenario runs on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::duration::Span;

/// The servers, as `topology.<kind> = { ... }`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Topology {
    /// One server, node `primary`.
    Single(Single),
    /// A primary and replicas: nodes `primary`, `replica-1`, ...
    Replicated(Replicated),
    /// Masters that know nothing of each other: nodes `n1`, `n2`, ...
    Independent(Independent),
    /// A Redis Cluster: nodes `shard-1`, `shard-2`, ..., `shard-1-replica-1`, ...
    Cluster(Cluster),
}

/// A topology without its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TopologyKind {
    /// See [`Topology::Single`].
    Single,
    /// See [`Topology::Replicated`].
    Replicated,
    /// See [`Topology::Independent`].
    Independent,
    /// See [`Topology::Cluster`].
    Cluster,
}

/// Parameters of [`Topology::Single`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Single {
    /// What the server keeps on disk.
    #[serde(default)]
    pub persistence: Persistence,
}

/// Parameters of [`Topology::Replicated`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Replicated {
    /// How many replicas the primary has.
    #[serde(default = "one")]
    pub replicas: u32,
    /// What each server keeps on disk.
    #[serde(default)]
    pub persistence: Persistence,
}

const fn one() -> u32 {
    1
}

/// Parameters of [`Topology::Independent`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Independent {
    /// How many masters; odd, so that a majority is defined.
    #[serde(default = "five")]
    pub nodes: u32,
    /// What each server keeps on disk.
    #[serde(default)]
    pub persistence: Persistence,
}

const fn five() -> u32 {
    5
}

/// Parameters of [`Topology::Cluster`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Cluster {
    /// How many shards share the keys; fewer than three cannot agree on a failover.
    #[serde(default = "three")]
    pub shards: u32,
    /// How many replicas each shard has.
    #[serde(default = "one")]
    pub replicas: u32,
    /// What each server keeps on disk.
    #[serde(default)]
    pub persistence: Persistence,
    /// After how long without an answer a server is thought to be dead.
    #[serde(default = "half_a_second")]
    pub node_timeout: Span,
    /// How many replicas must keep up with a master for it to take writes.
    #[serde(default)]
    pub min_replicas_to_write: u32,
}

const fn three() -> u32 {
    3
}

/// The shortest that is steady on a busy machine; Redis's own default is 15 s.
const fn half_a_second() -> Span {
    Span::from_millis(500)
}

/// What a server keeps on disk, and so what a restart remembers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Persistence {
    /// Nothing: a restart forgets every lock.
    #[default]
    None,
    /// Append-only file, synced each second.
    AofEverysec,
    /// Append-only file, synced before each reply.
    AofAlways,
    /// Snapshots.
    Rdb,
}

impl Topology {
    /// Without parameters.
    pub const fn kind(&self) -> TopologyKind {
        match self {
            Self::Single(_) => TopologyKind::Single,
            Self::Replicated(_) => TopologyKind::Replicated,
            Self::Independent(_) => TopologyKind::Independent,
            Self::Cluster(_) => TopologyKind::Cluster,
        }
    }

    /// What its servers keep on disk.
    pub const fn persistence(&self) -> Persistence {
        match self {
            Self::Single(single) => single.persistence,
            Self::Replicated(replicated) => replicated.persistence,
            Self::Independent(independent) => independent.persistence,
            Self::Cluster(cluster) => cluster.persistence,
        }
    }

    /// The names of its nodes, in order.
    pub fn nodes(&self) -> Vec<String> {
        match self {
            Self::Single(_) => vec!["primary".to_owned()],
            Self::Replicated(replicated) => std::iter::once("primary".to_owned())
                .chain((1..=replicated.replicas).map(|n| format!("replica-{n}")))
                .collect(),
            Self::Independent(independent) => {
                (1..=independent.nodes).map(|n| format!("n{n}")).collect()
            }
            Self::Cluster(cluster) => {
                let masters = (1..=cluster.shards).map(|shard| format!("shard-{shard}"));
                let replicas = (1..=cluster.shards).flat_map(|shard| {
                    (1..=cluster.replicas).map(move |n| format!("shard-{shard}-replica-{n}"))
                });
                masters.chain(replicas).collect()
            }
        }
    }

    /// How reports name it: `single`, `replicated (1 replica)`, `independent (5 nodes)`.
    pub fn label(&self) -> String {
        match self {
            Self::Single(_) => "single".to_owned(),
            Self::Replicated(Replicated { replicas: 1, .. }) => "replicated (1 replica)".to_owned(),
            Self::Replicated(replicated) => {
                format!("replicated ({} replicas)", replicated.replicas)
            }
            Self::Independent(independent) => format!("independent ({} nodes)", independent.nodes),
            Self::Cluster(cluster) => format!(
                "cluster ({} shards, {} replicas)",
                cluster.shards,
                cluster.shards.saturating_mul(cluster.replicas)
            ),
        }
    }
}

impl TopologyKind {
    /// Every topology, in the order of `lockstorm list topologies`.
    pub const ALL: [Self; 4] = [
        Self::Single,
        Self::Replicated,
        Self::Independent,
        Self::Cluster,
    ];

    /// What it is, in one line.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::Single => "one server: node primary",
            Self::Replicated => "a primary and its replicas: nodes primary, replica-1, ...",
            Self::Independent => "masters that know nothing of each other: nodes n1, n2, ...",
            Self::Cluster => {
                "a Redis Cluster that fails over by itself: nodes shard-1, ..., \
                 shard-1-replica-1, ..."
            }
        }
    }

    /// The word used in scenario files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Replicated => "replicated",
            Self::Independent => "independent",
            Self::Cluster => "cluster",
        }
    }
}
