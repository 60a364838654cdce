//! Rules on the servers.

use super::external;
use super::findings::Findings;
use crate::model::{Cluster, Custom, DurationSpec, Sentinel, Topology, unknown_place};

/// Servers of one run at most: more say nothing new and outgrow a test machine.
pub(super) const NODES_MAX: u32 = 31;
/// Shards of a Cluster at least: a failover is voted for by a majority of the other masters.
const SHARDS_MIN: u32 = 3;
/// Members at most of those that elect a leader: more make each write slower, and etcd advises
/// against them.
const MEMBERS_MAX: u32 = 7;
/// Below it servers take each other for dead although nothing is wrong.
const NODE_TIMEOUT_MIN: DurationSpec = DurationSpec::from_millis(100);
/// Characters of the name of a system at most.
const NAME_CHARS_MAX: usize = 40;
/// Unit of min-replicas-max-lag: it counts whole seconds.
const MAX_LAG_UNIT_MS: u64 = 1000;

/// Judges the topology at `path`.
pub(crate) fn judge(topology: &Topology, path: &str, findings: &mut Findings<'_>) {
    if let Some(servers) = topology.external() {
        external::judge(servers, &format!("{path}.external"), findings);
    }
    if let Some((count, message, help)) = mistake(topology) {
        findings.value(&format!("{path}.{count}"), message, &help);
    }
}

/// Tells whether the number of servers is possible, and so their names mean something.
pub(crate) fn is_possible(topology: &Topology) -> bool {
    mistake(topology).is_none() && topology.external().is_none_or(external::is_possible)
}

/// Mistake, and what would be right.
type Wrong = (String, String);

/// Path of the first option that is wrong, with what is wrong with it.
fn mistake(topology: &Topology) -> Option<(&'static str, String, String)> {
    let options = match topology {
        // External servers have rules of their own.
        Topology::Single(_) | Topology::External(_) => Vec::new(),
        Topology::Replicated(replicated) => vec![
            ("replicated.replicas", wrong_replicas(replicated.replicas)),
            (
                "replicated.min-replicas-to-write",
                wrong_min_replicas(replicated.min_replicas_to_write, replicated.replicas),
            ),
            (
                "replicated.min-replicas-max-lag",
                wrong_max_lag(replicated.min_replicas_max_lag),
            ),
        ],
        Topology::Sentinel(sentinel) => vec![
            ("sentinel.replicas", wrong_replicas(sentinel.replicas)),
            ("sentinel.sentinels", wrong_sentinels(sentinel)),
            (
                "sentinel.min-replicas-to-write",
                wrong_min_replicas(sentinel.min_replicas_to_write, sentinel.replicas),
            ),
            (
                "sentinel.min-replicas-max-lag",
                wrong_max_lag(sentinel.min_replicas_max_lag),
            ),
        ],
        Topology::Independent(independent) => {
            vec![
                ("independent.nodes", wrong_nodes(independent.nodes)),
                (
                    "independent.replicas",
                    too_many_servers(independent.nodes, independent.replicas, "masters"),
                ),
            ]
        }
        Topology::Etcd(etcd) => vec![("etcd.nodes", wrong_members(etcd.nodes))],
        Topology::Zookeeper(zookeeper) => {
            vec![("zookeeper.nodes", wrong_members(zookeeper.nodes))]
        }
        Topology::Custom(custom) => vec![
            ("custom.nodes", wrong_nodes(custom.nodes)),
            ("custom.name", wrong_name(&custom.name)),
            ("custom.start", missing(&custom.start)),
            ("custom.answers", missing(&custom.answers)),
            ("custom.start", wrong_place(&custom.start)),
            ("custom.answers", wrong_place(&custom.answers)),
            ("custom.prepare", wrong_place(&custom.prepare)),
            ("custom.join", wrong_place(&custom.join)),
        ],
        Topology::Postgres(postgres) => {
            let wrong = too_many_servers(1, postgres.replicas, "the primary");
            vec![("postgres.replicas", wrong)]
        }
        Topology::Mariadb(mariadb) => {
            let wrong = too_many_servers(1, mariadb.replicas, "the primary");
            vec![("mariadb.replicas", wrong)]
        }
        Topology::Cluster(cluster) => vec![
            ("cluster.shards", wrong_shards(cluster)),
            (
                "cluster.replicas",
                too_many_servers(cluster.shards, cluster.replicas, "shards"),
            ),
            (
                "cluster.min-replicas-to-write",
                wrong_min_replicas(cluster.min_replicas_to_write, cluster.replicas),
            ),
            (
                "cluster.min-replicas-max-lag",
                wrong_max_lag(cluster.min_replicas_max_lag),
            ),
            (
                "cluster.node-timeout",
                wrong_node_timeout(cluster.node_timeout),
            ),
        ],
    };
    options
        .into_iter()
        .find_map(|(path, wrong)| wrong.map(|(message, help)| (path, message, help)))
}

fn wrong_replicas(replicas: u32) -> Option<Wrong> {
    match replicas {
        0 => Some((
            "`replicas` must be greater than 0".to_owned(),
            "a primary alone is `topology.single`".to_owned(),
        )),
        n if n >= NODES_MAX => Some((
            format!("{n} replicas are too many"),
            format!("at most {}", NODES_MAX - 1),
        )),
        _ => None,
    }
}

fn wrong_sentinels(topology: &Sentinel) -> Option<Wrong> {
    let room = NODES_MAX.saturating_sub(topology.replicas.saturating_add(1));
    match topology.sentinels {
        0 => Some((
            "`sentinels` must be greater than 0".to_owned(),
            "three sentinels are usual; without any it is `topology.replicated`".to_owned(),
        )),
        n if n > room => Some((
            format!("{n} sentinels are too many"),
            format!("at most {room} beside these servers"),
        )),
        _ => None,
    }
}

fn wrong_min_replicas(needed: u32, replicas: u32) -> Option<Wrong> {
    (needed > replicas).then(|| {
        (
            format!("`min-replicas-to-write` must be at most {replicas}, not {needed}"),
            "with fewer replicas than that no write is ever taken".to_owned(),
        )
    })
}

fn wrong_max_lag(lag: DurationSpec) -> Option<Wrong> {
    let is_whole = lag.as_millis().is_multiple_of(MAX_LAG_UNIT_MS);
    (!is_whole || lag < DurationSpec::from_millis(MAX_LAG_UNIT_MS)).then(|| {
        (
            format!("`min-replicas-max-lag` must be whole seconds, 1 or more, not {lag}"),
            "such as \"1s\"".to_owned(),
        )
    })
}

fn wrong_shards(cluster: &Cluster) -> Option<Wrong> {
    let shards = cluster.shards;
    (shards < SHARDS_MIN).then(|| {
        (
            format!("{shards} shards cannot agree that one of them is gone"),
            format!("at least {SHARDS_MIN}: a failover needs a majority of masters"),
        )
    })
}

fn too_many_servers(masters: u32, replicas: u32, called: &str) -> Option<Wrong> {
    let all = u64::from(masters) * (u64::from(replicas) + 1);
    (all > u64::from(NODES_MAX)).then(|| {
        (
            format!("{all} servers are too many"),
            format!("at most {NODES_MAX}, {called} and their replicas together"),
        )
    })
}

fn wrong_node_timeout(timeout: DurationSpec) -> Option<Wrong> {
    (timeout < NODE_TIMEOUT_MIN).then(|| {
        (
            format!("`node-timeout` must be at least {NODE_TIMEOUT_MIN}, not {timeout}"),
            "shorter ones take slow nodes for dead ones; \"500ms\" is steady".to_owned(),
        )
    })
}

fn wrong_members(nodes: u32) -> Option<Wrong> {
    let wrong = match nodes {
        0 => "`nodes` must be greater than 0".to_owned(),
        n if n > MEMBERS_MAX => format!("{n} members are too many"),
        n if n.is_multiple_of(2) => format!("{n} members are an even number"),
        _ => return None,
    };
    let help = "3 or 5: one member less has as great a majority; at most 7";
    Some((wrong, help.to_owned()))
}

/// A name that reports can show in a line.
fn wrong_name(name: &str) -> Option<Wrong> {
    let plain = name.chars().all(|c| !c.is_control()) && !name.trim().is_empty();
    (!plain || name.chars().count() > NAME_CHARS_MAX).then(|| {
        let help = format!("1 to {NAME_CHARS_MAX} characters, such as \"MongoDB\"");
        ("`name` must be the name of a system".to_owned(), help)
    })
}

fn missing(command: &[String]) -> Option<Wrong> {
    let is_missing = command.first().is_none_or(String::is_empty);
    is_missing.then(|| {
        let help = "a program and its arguments, such as [\"mongod\", \"--port\", \"{port}\"]";
        ("the command names no program".to_owned(), help.to_owned())
    })
}

/// A word in braces that stands for nothing.
fn wrong_place(command: &[String]) -> Option<Wrong> {
    let unknown = command.iter().find_map(|word| unknown_place(word))?;
    let help = format!("must be one of {}", Custom::PLACES.join(", "));
    Some((format!("`{unknown}` stands for nothing"), help))
}

fn wrong_nodes(nodes: u32) -> Option<(String, String)> {
    match nodes {
        0 => Some((
            "`nodes` must be greater than 0".to_owned(),
            "five are usual; an even number tolerates no more failures than one less".to_owned(),
        )),
        n if n > NODES_MAX => Some((
            format!("{n} nodes are too many"),
            format!("at most {NODES_MAX}"),
        )),
        _ => None,
    }
}
