//! Real servers that a scenario runs on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::custom::Custom;
use super::external::External;
use super::faults::FailoverMode;
use super::system::System;
use super::topology_options::{
    Cluster, Etcd, Independent, Mariadb, Postgres, Replicated, Sentinel, Single, Timers, Zookeeper,
};
use super::trace::Trace;

/// The servers, as `topology.<kind> = { ... }`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Topology {
    /// One server, node `primary`.
    Single(Single),
    /// A primary and replicas: nodes `primary`, `replica-1`, ...
    Replicated(Replicated),
    /// A primary, replicas, and sentinels that replace it: nodes `primary`, `replica-1`, ...,
    /// `sentinel-1`, ...
    Sentinel(Sentinel),
    /// Masters that know nothing of each other: nodes `n1`, `n2`, ...
    Independent(Independent),
    /// A Redis Cluster: nodes `shard-1`, `shard-2`, ..., `shard-1-replica-1`, ...
    Cluster(Cluster),
    /// Members of etcd, which elect a leader by themselves: nodes `n1`, `n2`, ...
    Etcd(Etcd),
    /// Members of ZooKeeper, which elect a leader by themselves: nodes `n1`, `n2`, ...
    Zookeeper(Zookeeper),
    /// A primary of MariaDB and replicas: nodes `primary`, `replica-1`, ...
    Mariadb(Mariadb),
    /// A primary of PostgreSQL and replicas: nodes `primary`, `replica-1`, ..., and `pooler`
    Postgres(Postgres),
    /// Servers of any system, which commands of yours start: nodes `n1`, `n2`, ...
    Custom(Custom),
    /// Servers that someone else runs: nodes `primary`, `replica-1`, ..., or `n1`, `n2`, ...
    External(External),
}

/// A topology without its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TopologyKind {
    /// See [`Topology::Single`].
    Single,
    /// See [`Topology::Replicated`].
    Replicated,
    /// See [`Topology::Sentinel`].
    Sentinel,
    /// See [`Topology::Independent`].
    Independent,
    /// See [`Topology::Cluster`].
    Cluster,
    /// See [`Topology::Etcd`].
    Etcd,
    /// See [`Topology::Zookeeper`].
    Zookeeper,
    /// See [`Topology::Mariadb`].
    Mariadb,
    /// See [`Topology::Postgres`].
    Postgres,
    /// See [`Topology::Custom`].
    Custom,
    /// See [`Topology::External`].
    External,
}

impl Topology {
    /// Without parameters.
    pub const fn kind(&self) -> TopologyKind {
        match self {
            Self::Single(_) => TopologyKind::Single,
            Self::Replicated(_) => TopologyKind::Replicated,
            Self::Sentinel(_) => TopologyKind::Sentinel,
            Self::Independent(_) => TopologyKind::Independent,
            Self::Cluster(_) => TopologyKind::Cluster,
            Self::Etcd(_) => TopologyKind::Etcd,
            Self::Zookeeper(_) => TopologyKind::Zookeeper,
            Self::Mariadb(_) => TopologyKind::Mariadb,
            Self::Postgres(_) => TopologyKind::Postgres,
            Self::Custom(_) => TopologyKind::Custom,
            Self::External(_) => TopologyKind::External,
        }
    }

    /// Topology that clients and steps find: of servers that someone else runs, the one that they
    /// are like.
    pub const fn alike(&self) -> TopologyKind {
        match self {
            Self::External(external) => external.alike(),
            Self::Single(_)
            | Self::Replicated(_)
            | Self::Sentinel(_)
            | Self::Independent(_)
            | Self::Cluster(_)
            | Self::Etcd(_)
            | Self::Zookeeper(_)
            | Self::Mariadb(_)
            | Self::Postgres(_)
            | Self::Custom(_) => self.kind(),
        }
    }

    /// Returns the reason why these servers cannot be asked for this evidence, if they cannot.
    pub const fn refuses(&self, trace: Trace) -> Option<&'static str> {
        match (self, trace) {
            (Self::External(_), _) => {
                Some("a trace takes KEYS and MONITOR, which touch all that external servers have")
            }
            (Self::Custom(_), _) => Some("nobody knows how to ask custom servers for their locks"),
            (Self::Etcd(_), Trace::Monitor) => {
                Some("etcd has no MONITOR: take \"probe\", which asks members what they know")
            }
            (Self::Zookeeper(_), Trace::Monitor) => {
                Some("ZooKeeper has no MONITOR: take \"probe\", which asks members what they know")
            }
            (Self::Mariadb(_), Trace::Monitor) => {
                Some("MariaDB has no MONITOR: take \"probe\", which asks servers what they know")
            }
            (Self::Postgres(_), Trace::Monitor) => {
                Some("PostgreSQL has no MONITOR: take \"probe\", which asks servers what they know")
            }
            (
                Self::Etcd(_) | Self::Zookeeper(_) | Self::Mariadb(_) | Self::Postgres(_),
                Trace::Probe,
            )
            | (
                Self::Single(_)
                | Self::Replicated(_)
                | Self::Sentinel(_)
                | Self::Independent(_)
                | Self::Cluster(_),
                Trace::Probe | Trace::Monitor,
            ) => None,
        }
    }

    /// The servers that someone else runs, if it is those.
    pub const fn external(&self) -> Option<&External> {
        match self {
            Self::External(external) => Some(external),
            Self::Single(_)
            | Self::Replicated(_)
            | Self::Sentinel(_)
            | Self::Independent(_)
            | Self::Cluster(_)
            | Self::Etcd(_)
            | Self::Zookeeper(_)
            | Self::Mariadb(_)
            | Self::Postgres(_)
            | Self::Custom(_) => None,
        }
    }

    /// Tells whether some of its servers are replicas.
    pub const fn has_replicas(&self) -> bool {
        match self {
            Self::Independent(independent) => independent.replicas > 0,
            Self::Mariadb(mariadb) => mariadb.replicas > 0,
            Self::Postgres(postgres) => postgres.replicas > 0,
            Self::Single(_)
            | Self::Replicated(_)
            | Self::Sentinel(_)
            | Self::Cluster(_)
            | Self::Etcd(_)
            | Self::Zookeeper(_)
            | Self::Custom(_)
            | Self::External(_) => self.alike().has_replicas(),
        }
    }

    /// The names of its nodes, in order.
    pub fn nodes(&self) -> Vec<String> {
        match self {
            Self::Single(_) => vec!["primary".to_owned()],
            Self::Replicated(replicated) => replicated_nodes(replicated.replicas).collect(),
            Self::Sentinel(sentinel) => replicated_nodes(sentinel.replicas)
                .chain((1..=sentinel.sentinels).map(|n| format!("sentinel-{n}")))
                .collect(),
            Self::Independent(independent) => masters(independent.nodes)
                .flat_map(|master| family(master, independent.replicas))
                .collect(),
            Self::Etcd(etcd) => masters(etcd.nodes).collect(),
            Self::Zookeeper(zookeeper) => masters(zookeeper.nodes).collect(),
            Self::Mariadb(mariadb) => replicated_nodes(mariadb.replicas).collect(),
            Self::Postgres(postgres) => replicated_nodes(postgres.replicas)
                .chain(postgres.pooler.map(|_| POOLER.to_owned()))
                .collect(),
            Self::Custom(custom) => masters(custom.nodes).collect(),
            Self::External(external) => match external.urls.len() {
                0 | 1 => replicated_nodes(external.replicas.len() as u32).collect(),
                several => masters(several as u32).collect(),
            },
            Self::Cluster(cluster) => {
                let masters = (1..=cluster.shards).map(|shard| format!("shard-{shard}"));
                let replicas = (1..=cluster.shards)
                    .flat_map(|shard| family(format!("shard-{shard}"), cluster.replicas).skip(1));
                masters.chain(replicas).collect()
            }
        }
    }

    /// Name in reports: `single`, `replicated (1 replica)`, `sentinel (1 replica)`,
    /// `independent (5 nodes)`.
    pub fn label(&self) -> String {
        match self {
            Self::Single(_) => "single".to_owned(),
            Self::Replicated(replicated) => {
                format!("replicated ({})", count_replicas(replicated.replicas))
            }
            Self::Sentinel(sentinel) => {
                let replicas = count_replicas(sentinel.replicas);
                match sentinel.timers {
                    Timers::Sharp => format!("sentinel ({replicas})"),
                    Timers::Stock => format!("sentinel ({replicas}, stock timers)"),
                }
            }
            Self::Independent(independent) => match independent.replicas {
                0 => format!("independent ({} nodes)", independent.nodes),
                replicas => format!(
                    "independent ({} nodes, {} each)",
                    independent.nodes,
                    count_replicas(replicas)
                ),
            },
            Self::Cluster(cluster) => format!(
                "cluster ({} shards, {} replicas)",
                cluster.shards,
                cluster.shards.saturating_mul(cluster.replicas)
            ),
            Self::Etcd(etcd) => ensemble("etcd", etcd.nodes, etcd.timers),
            Self::Zookeeper(zookeeper) => ensemble("zookeeper", zookeeper.nodes, zookeeper.timers),
            Self::Mariadb(mariadb) => database("mariadb", mariadb.replicas),
            Self::Postgres(postgres) => {
                let label = database("postgres", postgres.replicas);
                match postgres.pooler {
                    Some(mode) => format!("{label} behind a {} pooler", mode.name()),
                    None => label,
                }
            }
            Self::Custom(custom) => {
                let s = if custom.nodes == 1 { "" } else { "s" };
                format!("{} ({} node{s})", custom.name, custom.nodes)
            }
            Self::External(external) => format!("external ({})", external.size()),
        }
    }
}

/// Name of the pooler in front of a database.
const POOLER: &str = "pooler";

/// A primary of a database and so many replicas.
fn database(name: &str, replicas: u32) -> String {
    match replicas {
        0 => format!("{name} (alone)"),
        replicas => format!("{name} ({})", count_replicas(replicas)),
    }
}

/// Name of members that elect a leader.
fn ensemble(name: &str, nodes: u32, timers: Timers) -> String {
    match timers {
        Timers::Sharp => format!("{name} ({nodes} nodes)"),
        Timers::Stock => format!("{name} ({nodes} nodes, stock timers)"),
    }
}

/// A primary and its replicas, by name.
fn replicated_nodes(replicas: u32) -> impl Iterator<Item = String> {
    std::iter::once("primary".to_owned()).chain((1..=replicas).map(|n| format!("replica-{n}")))
}

/// Masters that know nothing of each other, by name.
fn masters(count: u32) -> impl Iterator<Item = String> {
    (1..=count).map(|n| format!("n{n}"))
}

/// One of several masters and its replicas, by name.
fn family(master: String, replicas: u32) -> impl Iterator<Item = String> {
    let replicas: Vec<_> = (1..=replicas)
        .map(|n| format!("{master}-replica-{n}"))
        .collect();
    std::iter::once(master).chain(replicas)
}

fn count_replicas(replicas: u32) -> String {
    match replicas {
        1 => "1 replica".to_owned(),
        n => format!("{n} replicas"),
    }
}

impl TopologyKind {
    /// The ways in which its servers fail over when they are asked to.
    pub const fn failover_modes(self) -> &'static [FailoverMode] {
        match self {
            // What external servers can do is a matter of what they are like.
            Self::Single
            | Self::Independent
            | Self::Etcd
            | Self::Zookeeper
            | Self::Mariadb
            | Self::Postgres
            | Self::Custom
            | Self::External => &[],
            Self::Replicated => &[FailoverMode::Agreed, FailoverMode::Force],
            Self::Sentinel => &[FailoverMode::Agreed],
            Self::Cluster => &[
                FailoverMode::Agreed,
                FailoverMode::Force,
                FailoverMode::Takeover,
            ],
        }
    }

    /// Tells whether its servers have replicas whatever their options, and can put one in the place
    /// of a primary by themselves.
    pub const fn has_replicas(self) -> bool {
        match self {
            Self::Replicated | Self::Sentinel | Self::Cluster => true,
            Self::Single
            | Self::Independent
            | Self::Etcd
            | Self::Zookeeper
            | Self::Mariadb
            | Self::Postgres
            | Self::Custom
            | Self::External => false,
        }
    }

    /// Every topology, in the order of `lockstorm list topologies`.
    pub const ALL: [Self; 11] = [
        Self::Single,
        Self::Replicated,
        Self::Sentinel,
        Self::Independent,
        Self::Cluster,
        Self::Etcd,
        Self::Zookeeper,
        Self::Mariadb,
        Self::Postgres,
        Self::Custom,
        Self::External,
    ];

    /// System of its servers.
    pub const fn system(self) -> System {
        match self {
            Self::Etcd => System::Etcd,
            Self::Zookeeper => System::Zookeeper,
            Self::Mariadb => System::Mariadb,
            Self::Postgres => System::Postgres,
            Self::Custom => System::Custom,
            Self::Single
            | Self::Replicated
            | Self::Sentinel
            | Self::Independent
            | Self::Cluster
            | Self::External => System::Redis,
        }
    }

    /// Summary, in one line.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::Single => "one server: node primary",
            Self::Replicated => "a primary and its replicas: nodes primary, replica-1, ...",
            Self::Sentinel => {
                "the same with sentinels that replace the primary: also nodes sentinel-1, ..."
            }
            Self::Independent => {
                "masters that know nothing of each other: nodes n1, n2, ..., n1-replica-1, ..."
            }
            Self::Cluster => {
                "a Redis Cluster that fails over by itself: nodes shard-1, ..., \
                 shard-1-replica-1, ..."
            }
            Self::Etcd => {
                "members of etcd, which elect a leader by themselves: nodes n1, n2, n3, ..."
            }
            Self::Zookeeper => {
                "members of ZooKeeper, which elect a leader by themselves: nodes n1, n2, n3, ..."
            }
            Self::Mariadb => "a primary of MariaDB and its replicas: nodes primary, replica-1, ...",
            Self::Postgres => {
                "a primary of PostgreSQL and its replicas: nodes primary, replica-1, ..."
            }
            Self::Custom => "servers of any system, by your commands: nodes n1, n2, ...",
            Self::External => {
                "servers that someone else runs, by their urls: nodes primary, replica-1, ..., or \
                 n1, n2, ..."
            }
        }
    }

    /// The word used in scenario files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Replicated => "replicated",
            Self::Sentinel => "sentinel",
            Self::Independent => "independent",
            Self::Cluster => "cluster",
            Self::Etcd => "etcd",
            Self::Zookeeper => "zookeeper",
            Self::Mariadb => "mariadb",
            Self::Postgres => "postgres",
            Self::Custom => "custom",
            Self::External => "external",
        }
    }
}
