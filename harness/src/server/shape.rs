//! Peculiarities of a topology: which servers it has, how they start, and who takes writes.
//!
//! For: one implementation a topology, each in a file of its own. Not for: what all servers have in
//! common, which `Servers` and `Node` know.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use lockstorm_nemesis::FaultError;
use lockstorm_scenarios::{FailoverMode, Topology};

use super::binary::Program;
use super::cluster::Sharded;
use super::external::Attached;
use super::node::Node;
use super::redis::RedisServer;
use super::role::Role;
use super::sentinel::Watched;
use super::software::Software;
use crate::connection::Route;
use crate::connection::probe::PROBE_TIMEOUT;
use crate::environment_error::EnvironmentError;
use crate::process::Facade;

/// Offset from the port of a server for clients to that by which servers talk to each other, where
/// they have one.
const PEERS_ABOVE: u16 = 10_000;

/// Address at which the other servers find one whose address for clients is this.
pub const fn peer(address: SocketAddr) -> SocketAddr {
    let mut peer = address;
    peer.set_port(address.port().saturating_add(PEERS_ABOVE));
    peer
}

/// Checks whether there is room for the second port.
///
/// # Errors
/// When there is none.
pub fn check_peer_port(port: u16) -> Result<(), EnvironmentError> {
    match port.checked_add(PEERS_ABOVE) {
        Some(_) => Ok(()),
        None => Err(EnvironmentError::NoPeerPort {
            port,
            port_max: u16::MAX - PEERS_ABOVE,
        }),
    }
}

/// Name, addresses, role and folder of a node that is to get its software.
pub struct NodePlace<'a> {
    /// Name, as in the scenario.
    pub name: &'a str,
    /// Program that it runs.
    pub program: &'a Program,
    /// Address where everybody finds it.
    pub public: SocketAddr,
    /// Address where its process listens.
    pub private: SocketAddr,
    /// Names and addresses of all nodes.
    pub all: &'a [Address],
    /// Role that it has when it is first started.
    pub role: &'a Role,
    /// Folder of its files.
    pub folder: &'a Path,
}

impl NodePlace<'_> {
    /// Number of the node among all, from 1 on.
    pub fn number(&self) -> usize {
        let before = self.all.iter().take_while(|node| node.name != self.name);
        before.count() + 1
    }

    /// The other nodes, where a network stands between.
    pub fn facades(&self) -> Vec<Facade> {
        let others = self.all.iter().filter(|other| other.name != self.name);
        let facades = others.filter_map(|other| match (other.public.ip(), other.private.ip()) {
            (IpAddr::V4(front), IpAddr::V4(behind)) => Some(Facade { front, behind }),
            _ => None,
        });
        facades
            .filter(|facade| facade.front != facade.behind)
            .collect()
    }
}

/// Name of a node, and where it is.
#[derive(Clone, Debug)]
pub struct Address {
    /// Name, as in the scenario.
    pub name: String,
    /// Address where everybody finds it.
    pub public: SocketAddr,
    /// Address where its process listens.
    pub private: SocketAddr,
}

/// One topology.
#[async_trait]
pub trait Shape: Send + Sync {
    /// Checks whether servers at this port can have all the ports that they need.
    ///
    /// # Errors
    /// When there is no room.
    fn check_port(&self, _port: u16) -> Result<(), EnvironmentError> {
        Ok(())
    }

    /// All addresses of a server whose first one is this.
    fn doors(&self, address: SocketAddr) -> Vec<SocketAddr> {
        vec![address]
    }

    /// Role of each node, in the order of the topology's names; `public` says where each is found.
    fn roles(&self, public: &[SocketAddr]) -> Vec<Role>;

    /// Finds the program of its servers, where it is another than `redis`.
    ///
    /// # Errors
    /// When there is none.
    fn program(&self, redis: Program) -> Result<Program, EnvironmentError> {
        Ok(redis)
    }

    /// Software of a node.
    fn software(&self, place: NodePlace<'_>) -> Box<dyn Software> {
        Box::new(RedisServer {
            name: place.name.to_owned(),
            program: place.program.clone(),
            public: place.public,
            private: place.private,
            role: place.role.clone(),
            folder: place.folder.to_owned(),
            governs_itself: self.governs_itself(),
            patience: self.patience(),
        })
    }

    /// Time that a server may take to answer what it is asked.
    fn patience(&self) -> Duration {
        PROBE_TIMEOUT
    }

    /// Route by which clients find the nodes that take writes.
    fn route(&self, nodes: &[Node]) -> Route;

    /// Starts all nodes for the first time and proves that they work together.
    async fn start(&self, nodes: &[Node]) -> Result<(), EnvironmentError>;

    /// Tells whether its servers can be used for another run, see [`Shape::clean`].
    fn can_be_cleaned(&self) -> bool {
        false
    }

    /// Removes all that the clients of a run have left on servers to which nothing has happened,
    /// and proves that each has its first role, keeps nothing, and hears the others.
    ///
    /// # Errors
    /// When one of them is not so within a named limit.
    async fn clean(&self, nodes: &[Node]) -> Result<(), EnvironmentError> {
        Err(nodes[0].not_ready("servers of this topology are not used twice"))
    }

    /// Tells a node that was started again what it does not keep on disk.
    async fn started_again(&self, _node: &Node) -> Result<(), EnvironmentError> {
        Ok(())
    }

    /// `true` if the servers decide by themselves who follows whom, and remember it on disk: a
    /// former primary that comes back becomes a replica.
    fn governs_itself(&self) -> bool {
        false
    }

    /// The nodes that take writes now.
    async fn writable(&self, _nodes: &[Node], route: &Route) -> Vec<String> {
        route.nodes().into_iter().map(|(name, _)| name).collect()
    }

    /// Waits until the servers have recovered from what was broken and is healed.
    ///
    /// # Errors
    /// In words, what is still wrong after a named limit: none of it is the lock's fault.
    async fn recover(&self, _nodes: &[Node]) -> Result<(), String> {
        Ok(())
    }

    /// The nodes that keep `key` now.
    async fn keepers(&self, nodes: &[Node], route: &Route, _key: &str) -> Vec<String> {
        self.writable(nodes, route).await
    }

    /// Has the servers themselves put a replica in the place of its primary.
    ///
    /// # Errors
    /// Where they do not know how, or refuse.
    async fn fail_over(
        &self,
        _nodes: &[Node],
        _route: &Route,
        node: &Node,
        _mode: FailoverMode,
    ) -> Result<(), FaultError> {
        Err(FaultError::Node {
            action: "fail over to",
            node: node.name.clone(),
            reason: "the servers of this topology do not fail over".to_owned(),
        })
    }

    /// `true` if every server a client may ask says of `key` what is true by now.
    async fn agree_on(&self, _nodes: &[Node], _key: &str) -> bool {
        true
    }

    /// Makes a replica the primary, and has clients use it from their next operation on.
    ///
    /// # Errors
    /// Where nobody can be promoted.
    async fn promote(
        &self,
        _nodes: &[Node],
        _route: &Route,
        node: &Node,
    ) -> Result<(), FaultError> {
        Err(FaultError::Node {
            action: "promote",
            node: node.name.clone(),
            reason: "no server of this topology takes the place of another when told".to_owned(),
        })
    }
}

/// Peculiarities of `topology`.
pub fn shape_of(topology: &Topology) -> Box<dyn Shape> {
    match topology.clone() {
        Topology::Single(single) => Box::new(single),
        Topology::Replicated(replicated) => Box::new(replicated),
        Topology::Sentinel(sentinel) => Box::new(Watched(sentinel)),
        Topology::Independent(independent) => Box::new(independent),
        Topology::Cluster(cluster) => Box::new(Sharded::new(cluster)),
        Topology::Etcd(etcd) => Box::new(etcd),
        Topology::Zookeeper(zookeeper) => Box::new(zookeeper),
        Topology::Mariadb(mariadb) => Box::new(mariadb),
        Topology::Postgres(postgres) => Box::new(postgres),
        Topology::Custom(custom) => Box::new(custom),
        Topology::External(external) => Box::new(Attached(external)),
    }
}

/// Starts nodes, one after the other.
pub async fn start_each(nodes: &[Node]) -> Result<(), EnvironmentError> {
    for node in nodes {
        node.start_empty().await?;
    }
    Ok(())
}

/// Name and public address.
pub fn place(node: &Node) -> (String, SocketAddr) {
    (node.name.clone(), node.public)
}

/// Names and public addresses.
pub fn places(nodes: &[Node]) -> Vec<(String, SocketAddr)> {
    nodes.iter().map(place).collect()
}
