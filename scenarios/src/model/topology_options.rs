//! Parameters of the topologies.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::duration::DurationSpec;

/// Parameters of [`Topology::Single`](super::Topology::Single).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Single {
    /// Data that the server keeps on disk.
    #[serde(default)]
    pub persistence: Persistence,
}

/// Parameters of [`Topology::Replicated`](super::Topology::Replicated).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Replicated {
    /// Number of replicas that the primary has.
    #[serde(default = "one")]
    pub replicas: u32,
    /// Data that each server keeps on disk.
    #[serde(default)]
    pub persistence: Persistence,
    /// Data that the replicas keep on disk, if it is something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replica_persistence: Option<Persistence>,
    /// The primary refuses writes while fewer replicas than this keep up with it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub min_replicas_to_write: u32,
    /// A replica keeps up as long as it was heard so recently; whole seconds.
    #[serde(default = "max_lag", skip_serializing_if = "is_usual_max_lag")]
    pub min_replicas_max_lag: DurationSpec,
}

impl Default for Replicated {
    /// One replica, nothing on disk, writes are always taken.
    fn default() -> Self {
        Self {
            replicas: one(),
            persistence: Persistence::default(),
            replica_persistence: None,
            min_replicas_to_write: 0,
            min_replicas_max_lag: max_lag(),
        }
    }
}

const fn one() -> u32 {
    1
}

/// Redis's own default.
const fn max_lag() -> DurationSpec {
    DurationSpec::from_secs(10)
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

fn is_usual_max_lag(lag: &DurationSpec) -> bool {
    *lag == max_lag()
}

/// Parameters of [`Topology::Sentinel`](super::Topology::Sentinel).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Sentinel {
    /// Number of replicas that the primary has.
    #[serde(default = "one")]
    pub replicas: u32,
    /// Number of sentinels; more than half of them must agree on a failover.
    #[serde(default = "three")]
    pub sentinels: u32,
    /// Timers of the sentinels.
    #[serde(default)]
    pub timers: Timers,
    /// Data that each server keeps on disk.
    #[serde(default)]
    pub persistence: Persistence,
    /// Data that the replicas keep on disk, if it is something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replica_persistence: Option<Persistence>,
    /// A primary refuses writes while fewer replicas than this keep up with it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub min_replicas_to_write: u32,
    /// A replica keeps up as long as it was heard so recently; whole seconds.
    #[serde(default = "max_lag", skip_serializing_if = "is_usual_max_lag")]
    pub min_replicas_max_lag: DurationSpec,
}

const fn three() -> u32 {
    3
}

/// Times within which servers notice that one of them is gone, agree and tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Timers {
    /// As short as is steady: sentinels fail over within two seconds, and tell who was primary
    /// within one more; etcd elects another leader within half a second, ZooKeeper within two.
    #[default]
    Sharp,
    /// The system's own: after a failover of Redis's who was primary learns of it after ten
    /// seconds; etcd elects another leader within two, ZooKeeper within ten.
    Stock,
}

/// Parameters of [`Topology::Independent`](super::Topology::Independent).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Independent {
    /// Number of masters; odd, so that a majority is defined.
    #[serde(default = "five")]
    pub nodes: u32,
    /// Number of replicas that each master has. A promoted one takes its master's place.
    #[serde(default)]
    pub replicas: u32,
    /// Data that each server keeps on disk.
    #[serde(default)]
    pub persistence: Persistence,
}

const fn five() -> u32 {
    5
}

/// Parameters of [`Topology::Cluster`](super::Topology::Cluster).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Cluster {
    /// Number of shards that share the keys; fewer than three cannot agree on a failover.
    #[serde(default = "three")]
    pub shards: u32,
    /// Number of replicas that each shard has.
    #[serde(default = "one")]
    pub replicas: u32,
    /// Data that each server keeps on disk.
    #[serde(default)]
    pub persistence: Persistence,
    /// After how long without an answer a server is thought to be dead.
    #[serde(default = "half_a_second")]
    pub node_timeout: DurationSpec,
    /// Number of replicas that must keep up with a master for it to take writes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub min_replicas_to_write: u32,
    /// A replica keeps up as long as it was heard so recently; whole seconds.
    #[serde(default = "max_lag", skip_serializing_if = "is_usual_max_lag")]
    pub min_replicas_max_lag: DurationSpec,
}

/// The shortest that is steady on a busy machine; Redis's own default is 15 s.
const fn half_a_second() -> DurationSpec {
    DurationSpec::from_millis(500)
}

/// Parameters of [`Topology::Etcd`](super::Topology::Etcd).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Etcd {
    /// Number of members; odd, so that one more than half of them is as few as can be.
    #[serde(default = "three")]
    pub nodes: u32,
    /// Timers of the election of a leader.
    #[serde(default)]
    pub timers: Timers,
}

impl Default for Etcd {
    /// Three members with sharp timers.
    fn default() -> Self {
        Self {
            nodes: three(),
            timers: Timers::default(),
        }
    }
}

/// Parameters of [`Topology::Zookeeper`](super::Topology::Zookeeper).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Zookeeper {
    /// Number of members; odd, so that one more than half of them is as few as can be.
    #[serde(default = "three")]
    pub nodes: u32,
    /// Timers of the election of a leader.
    #[serde(default)]
    pub timers: Timers,
}

impl Default for Zookeeper {
    /// Three members with sharp timers.
    fn default() -> Self {
        Self {
            nodes: three(),
            timers: Timers::default(),
        }
    }
}

/// Parameters of [`Topology::Mariadb`](super::Topology::Mariadb).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Mariadb {
    /// Number of replicas, which get what was written after the writer has its answer.
    #[serde(default = "one")]
    pub replicas: u32,
}

impl Default for Mariadb {
    /// A primary and one replica.
    fn default() -> Self {
        Self { replicas: one() }
    }
}

/// Parameters of [`Topology::Postgres`](super::Topology::Postgres).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Postgres {
    /// Number of replicas, which get what was written after the writer has its answer.
    #[serde(default = "one")]
    pub replicas: u32,
    /// Time for which a pooler (pgbouncer) in front of the primary lends a connection; absent means
    /// that there is no pooler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pooler: Option<Pooler>,
}

/// Time for which a pooler lends one of its connections to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pooler {
    /// As long as the client is connected.
    Session,
    /// A transaction, or a statement outside of one.
    Transaction,
}

impl Pooler {
    /// The word for it, in scenario files and in pgbouncer's.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Transaction => "transaction",
        }
    }
}

impl Default for Postgres {
    /// A primary and one replica.
    fn default() -> Self {
        Self {
            replicas: one(),
            pooler: None,
        }
    }
}

/// Data that a server keeps on disk, and so what a restart remembers.
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
