//! What a reader needs to know of the machine that a run took place on.

use std::fs;
use std::thread;

use lockstorm_reports::{Environment, Node};
use lockstorm_scenarios::Topology;

use crate::server::{Program, Role, Servers};

/// Looks at the machine and at the servers before the load begins.
pub async fn look(program: &Program, servers: &Servers, topology: &Topology) -> Environment {
    let (through, direct) = servers.round_trips_us().await;
    Environment {
        lockstorm: env!("CARGO_PKG_VERSION").to_owned(),
        server: program.version.clone(),
        server_path: program.path.display().to_string(),
        system: system(),
        cores: thread::available_parallelism().map_or(1, |cores| cores.get() as u32),
        network: servers.network_name().to_owned(),
        round_trip_us: through,
        round_trip_direct_us: direct,
        // Known when the clients have started.
        adapter: None,
        nodes: servers
            .nodes()
            .iter()
            .map(|node| describe(node, topology))
            .collect(),
    }
}

fn describe(node: &crate::server::Node, topology: &Topology) -> Node {
    let role = match (&node.role, topology) {
        (Role::Sentinel(_), _) => "sentinel",
        (Role::Data(data), _) if data.follows.is_some() => "replica",
        // Its replicas know whom they follow from elsewhere.
        (Role::Data(_), Topology::Cluster(_)) if node.name.contains("replica") => "replica",
        (Role::Data(_), Topology::Cluster(_) | Topology::Independent(_)) => "master",
        (Role::Data(_), Topology::Single(_) | Topology::Replicated(_) | Topology::Sentinel(_)) => {
            "primary"
        }
    };
    Node {
        name: node.name.clone(),
        role: role.to_owned(),
        address: node.public.to_string(),
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
