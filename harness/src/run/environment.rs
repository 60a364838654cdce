//! Facts that a reader needs about the machine that a run took place on.

use std::fs;
use std::thread;

use lockstorm_reports::{Environment, Node};
use lockstorm_scenarios::{Topology, TopologyKind};

use crate::server::{Role, Servers};

/// Looks at the machine and at the servers before the load begins.
pub async fn look(servers: &Servers, topology: &Topology) -> Environment {
    let (program, elsewhere) = (servers.program(), servers.elsewhere());
    let (through, direct) = servers.round_trips_us().await;
    Environment {
        lockstorm: env!("CARGO_PKG_VERSION").to_owned(),
        server: match &elsewhere {
            Some((version, _)) => (*version).to_owned(),
            None => program.version.clone(),
        },
        server_path: match &elsewhere {
            Some(_) => "run by someone else".to_owned(),
            None => program.path.display().to_string(),
        },
        system: system(),
        cores: thread::available_parallelism().map_or(1, |cores| cores.get() as u32),
        network: servers.network_name().to_owned(),
        round_trip_us: through,
        round_trip_direct_us: direct,
        // Known when the clients have started.
        adapter: None,
        prefix: servers.prefix().map(str::to_owned),
        // Known when the history is whole.
        history_sha256: None,
        nodes: servers
            .nodes()
            .iter()
            .enumerate()
            .map(|(n, node)| Node {
                name: node.name.clone(),
                role: role_of(node, topology).to_owned(),
                address: match &elsewhere {
                    Some((_, addresses)) => addresses[n].clone(),
                    None => node.public.to_string(),
                },
            })
            .collect(),
    }
}

fn role_of(node: &crate::server::Node, topology: &Topology) -> &'static str {
    let data = match &node.role {
        Role::Sentinel(_) => return "sentinel",
        Role::Pooler => return "pooler",
        Role::Data(data) => data,
    };
    match topology.alike() {
        _ if data.follows.is_some() => "replica",
        // Its replicas know whom they follow from elsewhere.
        TopologyKind::Cluster if node.name.contains("replica") => "replica",
        TopologyKind::Cluster | TopologyKind::Independent => "master",
        TopologyKind::Etcd | TopologyKind::Zookeeper => "member",
        TopologyKind::Custom => "server",
        TopologyKind::Single
        | TopologyKind::Replicated
        | TopologyKind::Sentinel
        | TopologyKind::Mariadb
        | TopologyKind::Postgres
        | TopologyKind::External => "primary",
    }
}

/// Such as `Linux 6.1.0`.
fn system() -> String {
    let read = |name: &str| {
        fs::read_to_string(format!("/proc/sys/kernel/{name}"))
            .unwrap_or_default()
            .trim()
            .to_owned()
    };
    format!("{} {}", read("ostype"), read("osrelease"))
        .trim()
        .to_owned()
}
