//! The servers of a run, as one thing: started together, broken by the nemesis, gone when dropped.

use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use async_trait::async_trait;
use lockstorm_nemesis::messages::Messages;
use lockstorm_nemesis::{
    Clients, Deployment, FaultError, Guest, Machines, Network, Processes, Server,
};
use lockstorm_scenarios::{Case, FailoverMode, Memory, Topology};
use tokio::sync::watch;

use super::binary::Program;
use super::external;
use super::fleet::Fleet;
use super::node::Node;
use super::proof::{self, Known};
use super::shape::shape_of;
use super::spares::Spares;
use super::wires::{Wires, Wiring};
use crate::client_registry::ClientRegistry;
use crate::connection::Route;
use crate::connection::probe::round_trip_us;
use crate::environment_error::EnvironmentError;
use crate::gateway::Gateway;

/// Starts of a deployment until it is ready. On a busy machine a Cluster or a sentinel may take a
/// server for dead before anybody has touched it, and replace it; names would not fit then.
const STARTS_MAX: usize = 3;

/// Parts that a deployment is made of.
#[derive(Clone)]
pub struct ServerSettings {
    /// The servers to start.
    pub topology: Topology,
    /// The program of servers of Redis.
    pub program: Program,
    /// Port of all of them.
    pub port: u16,
    /// Folder that gets one folder for each node.
    pub folder: PathBuf,
    /// Wiring in the path, for links that will be faulted.
    pub wiring: Wiring,
    /// Have hands on clocks and disks, because they will be faulted.
    pub shim: bool,
    /// Servers that may be used again, where nothing will happen to them: all of this topology,
    /// program, port and wiring.
    pub spares: Option<Arc<Spares>>,
}

/// Running servers with their network and the clients that use them.
pub struct Servers {
    wires: Wires,
    fleet: Arc<Fleet>,
    /// The way to servers that someone else runs, and what is known of them.
    elsewhere: Option<(Gateway, Known)>,
    route: Arc<Route>,
    registry: Arc<ClientRegistry>,
    /// Address that the connections of each client come from.
    introduced: Mutex<BTreeMap<String, IpAddr>>,
    /// Dropped last, when no process and no file of theirs is left, unless they are kept.
    gone: watch::Sender<()>,
}

impl Servers {
    /// Takes servers that are kept and proved clean, or starts everything and waits until it is
    /// proved ready: each server answers and is ours, each replica is in step, and whoever has to
    /// agree does. Servers that replace each other and
    /// do not get ready are started again, a few times; the logs tell of each start. Any others
    /// would only fail the same way again, later.
    ///
    /// # Errors
    /// When a port is taken, a server does not start, or a replica does not catch up.
    pub async fn start(settings: ServerSettings) -> Result<Self, EnvironmentError> {
        if let Some(spares) = &settings.spares
            && let Some(servers) = spares.take().await
        {
            return Ok(servers);
        }
        let starts_max = if shape_of(&settings.topology).governs_itself() {
            STARTS_MAX
        } else {
            1
        };
        let mut starts = 1;
        loop {
            match Self::start_once(settings.clone()).await {
                Err(EnvironmentError::NotReady { .. }) if starts < starts_max => starts += 1,
                // Something listens where nothing did a moment before.
                Err(EnvironmentError::Io { source, .. })
                    if source.kind() == io::ErrorKind::AddrInUse && starts < STARTS_MAX =>
                {
                    starts += 1;
                }
                started => return started,
            }
        }
    }

    async fn start_once(settings: ServerSettings) -> Result<Self, EnvironmentError> {
        let spares = settings.spares.as_ref();
        let folder = spares.map_or_else(|| settings.folder.clone(), |spares| spares.next_folder());
        let fleet = Arc::new(Fleet::plan(&settings, &folder)?);
        let servers = Self::around(fleet, settings.wiring).await?;
        servers.fleet.start().await?;
        Ok(servers)
    }

    /// Puts a new network and new clients around a fleet that nobody else uses.
    pub(super) async fn around(
        fleet: Arc<Fleet>,
        wiring: Wiring,
    ) -> Result<Self, EnvironmentError> {
        let nodes = &fleet.nodes;
        let system = fleet.topology.kind().system();
        let wires = Wires::lay(wiring, system, nodes, &*fleet.shape).await?;
        let elsewhere = match fleet.topology.external() {
            None => None,
            Some(servers) => {
                let names: Vec<_> = nodes.iter().map(|node| node.name.clone()).collect();
                let gateway = external::open(servers, &names, &fleet.addresses).await?;
                let known = proof::meet(servers, &gateway).await?;
                Some((gateway, known))
            }
        };
        Ok(Self {
            route: Arc::new(fleet.shape.route(nodes)),
            wires,
            fleet,
            elsewhere,
            registry: Arc::default(),
            introduced: Mutex::default(),
            gone: watch::Sender::default(),
        })
    }

    /// Proves that servers which someone else runs let the clients and faults of `case` do what
    /// they have to; ours do.
    ///
    /// # Errors
    /// When they do not; the error names what is not allowed, and the remedy.
    pub async fn prove(&self, case: &Case) -> Result<(), EnvironmentError> {
        match (self.fleet.topology.external(), &self.elsewhere) {
            (Some(servers), Some((gateway, _))) => {
                let tried = proof::try_all(servers, gateway, &self.fleet.nodes, case).await;
                if tried.is_err() {
                    // What was tried may have left its key; the refusal is what matters.
                    let _ = self.leave().await;
                }
                tried
            }
            (_, _) => Ok(()),
        }
    }

    /// Leaves servers that someone else runs as they were found: the doors close, and the keys of
    /// the run are removed.
    ///
    /// # Errors
    /// In words, where keys may be left.
    pub async fn leave(&self) -> Result<(), String> {
        match &self.elsewhere {
            Some((gateway, _)) => gateway.leave(&self.writable().await).await,
            None => Ok(()),
        }
    }

    /// The servers themselves, to be kept when nobody uses them any more.
    pub fn fleet(&self) -> Arc<Fleet> {
        self.fleet.clone()
    }

    /// Ends every connection of clients, and waits until nothing of the network is left.
    pub async fn close_network(&self) {
        self.wires.close().await;
    }

    /// Waits until nobody uses the servers any more and, unless they are kept, their processes and
    /// data are gone. Tasks that were aborted may use them a little longer than whoever aborted
    /// them.
    pub fn cleared_away(&self) -> impl Future<Output = ()> + use<> {
        let mut gone = self.gone.subscribe();
        async move {
            // The only change is that nobody can send one any more.
            let _ = gone.changed().await;
        }
    }

    /// Prefix of the keys of the run on servers that someone else runs, if it is those.
    pub fn prefix(&self) -> Option<&str> {
        self.elsewhere.as_ref().map(|(gateway, _)| gateway.prefix())
    }

    /// The servers that someone else runs, if it is those: their version, and the address of each
    /// node.
    pub fn elsewhere(&self) -> Option<(&str, Vec<String>)> {
        let (gateway, known) = self.elsewhere.as_ref()?;
        let addresses = gateway.upstreams().map(crate::gateway::Upstream::address);
        Some((&known.version, addresses.collect()))
    }

    /// The program that the servers run.
    pub fn program(&self) -> &Program {
        &self.fleet.program
    }

    /// Route by which clients find the servers.
    pub fn route(&self) -> Arc<Route> {
        self.route.clone()
    }

    /// Registry of the clients.
    pub fn registry(&self) -> Arc<ClientRegistry> {
        self.registry.clone()
    }

    /// `true` if we run them, and not someone else.
    pub const fn are_ours(&self) -> bool {
        self.elsewhere.is_none()
    }

    /// The nodes, in order.
    pub fn nodes(&self) -> &[Node] {
        &self.fleet.nodes
    }

    /// The source address of client number `n`, made known to the network under its name.
    pub fn introduce_client(&self, name: &str, n: usize) -> IpAddr {
        let address = self.fleet.addresses.client(n);
        self.introduced
            .lock()
            .expect("no holder panics")
            .insert(name.to_owned(), address);
        self.wires.introduce(name, address);
        address
    }

    /// Opens a port of its own on every server for client number `n`, which need not say who it is
    /// then; `None` where no fabric stands in the path, or no port of this size is left.
    ///
    /// # Errors
    /// When a port is taken.
    pub async fn own_port(&self, name: &str, n: usize) -> Result<Option<u16>, EnvironmentError> {
        let from = self.introduce_client(name, n);
        let Some(port) = self.fleet.addresses.own_port(n) else {
            return Ok(None);
        };
        let guest = Guest {
            name: name.to_owned(),
            from,
            port,
        };
        let is_open = self.wires.admit(&guest, &self.fleet.nodes).await?;
        Ok(is_open.then_some(port))
    }

    /// Name of the caller at `address`: a client, or one of the servers.
    pub fn caller(&self, address: IpAddr) -> Option<String> {
        let introduced = self.introduced.lock().expect("no holder panics");
        let mut clients = introduced.iter();
        let client = clients.find(|(_, from)| **from == address);
        let mut nodes = self.fleet.nodes.iter();
        let node = nodes.find(|node| node.public.ip() == address);
        client
            .map(|(name, _)| name.clone())
            .or_else(|| node.map(|node| node.name.clone()))
    }

    /// Sends one command to a node, past any cut link, and gives its reply as text.
    ///
    /// # Errors
    /// [`FaultError::Node`] when there is no reply within a named limit, or an error reply.
    pub async fn command(&self, node: &str, args: &[&str]) -> Result<String, FaultError> {
        self.node(node)?.ask(args).await
    }

    /// Process id of a node's server; `None` while it is dead.
    pub fn pid(&self, node: &str) -> Option<i32> {
        self.node(node).ok()?.pid()
    }

    /// Servers that died though nobody killed them, each with how it ended. A run with one of
    /// these has tested something else than it says.
    pub fn casualties(&self) -> Vec<String> {
        self.fleet.casualties()
    }

    /// Waits until the servers have recovered from what was broken and is healed.
    ///
    /// # Errors
    /// In words, what is still wrong after a named limit: none of it is the lock's fault.
    pub async fn recover(&self) -> Result<(), String> {
        self.fleet.shape.recover(&self.fleet.nodes).await
    }

    /// `true` if every server a client may ask says by now who takes the writes of `key`.
    pub async fn agree_on(&self, key: &str) -> bool {
        self.fleet.shape.agree_on(&self.fleet.nodes, key).await
    }

    /// `true` if links can be faulted.
    pub fn has_network(&self) -> bool {
        self.wires.network().is_some()
    }

    /// The server that was the last to reply to `client`, and when, see [`Network::last_reply`].
    pub fn last_reply(&self, client: &str) -> Option<(String, Instant)> {
        self.wires.network()?.last_reply(client)
    }

    /// The messages between clients and servers, where they are read.
    pub fn messages(&self) -> Option<&Arc<Messages>> {
        self.wires.network().and_then(Network::messages)
    }

    /// Name that reports give to what stands in the path.
    pub fn network_name(&self) -> &'static str {
        match self.elsewhere {
            Some(_) => "gateway",
            None => self.wires.name(),
        }
    }

    /// Median of some round trips to the first node, in microseconds: on the way that clients
    /// take, and past what stands in it, if anything does.
    pub async fn round_trips_us(&self) -> (Option<f64>, Option<f64>) {
        let node = &self.fleet.nodes[0];
        // What is measured is a PING.
        if node.server().redis().is_none() {
            return (None, None);
        }
        match &self.wires {
            Wires::Direct => (round_trip_us(node.public, None).await, None),
            Wires::Fabric(_) => (
                round_trip_us(node.public, None).await,
                round_trip_us(node.private, None).await,
            ),
            // Packets of strangers pass the queue too, unless they come from the first address.
            Wires::Kernel(_) => (
                round_trip_us(node.public, Some(self.fleet.addresses.private(0).ip())).await,
                round_trip_us(node.public, None).await,
            ),
        }
    }

    pub(super) fn node(&self, name: &str) -> Result<&Node, FaultError> {
        self.fleet
            .nodes
            .iter()
            .find(|node| node.name == name)
            .ok_or_else(|| FaultError::no_node(name))
    }
}

#[async_trait]
impl Deployment for Servers {
    fn nodes(&self) -> Vec<String> {
        self.fleet
            .nodes
            .iter()
            .map(|node| node.name.clone())
            .collect()
    }

    fn without_data(&self) -> Vec<String> {
        let others = self
            .fleet
            .nodes
            .iter()
            .filter(|node| node.role.data().is_none());
        others.map(|node| node.name.clone()).collect()
    }

    async fn writable(&self) -> Vec<String> {
        self.fleet
            .shape
            .writable(&self.fleet.nodes, &self.route)
            .await
    }

    fn processes(&self, node: &str) -> Option<Processes> {
        self.pid(node).map(Processes::of)
    }

    fn lives(&self, node: &str) -> bool {
        match &self.elsewhere {
            Some((gateway, _)) => gateway.upstream(node).is_some(),
            None => self.pid(node).is_some(),
        }
    }

    fn own_connections(&self, node: &str) -> Option<BTreeMap<String, IpAddr>> {
        let (gateway, _) = self.elsewhere.as_ref()?;
        Some(gateway.connections_to(node))
    }

    async fn kill(&self, node: &str) -> Result<(), FaultError> {
        self.node(node).map(Node::kill)
    }

    async fn start(&self, node: &str, memory: Memory) -> Result<(), FaultError> {
        let node = self.node(node)?;
        let started = async {
            node.start(memory).await?;
            self.fleet.shape.started_again(node).await
        };
        started.await.map_err(|error| FaultError::Node {
            action: "start",
            node: node.name.clone(),
            reason: error.to_string(),
        })
    }

    fn server_key(&self, key: &str) -> String {
        self.registry.server_key(key)
    }

    async fn keepers(&self, key: &str) -> Vec<String> {
        self.fleet
            .shape
            .keepers(&self.fleet.nodes, &self.route, key)
            .await
    }

    fn rejoins(&self) -> bool {
        self.fleet.shape.governs_itself()
    }

    async fn promote(&self, node: &str) -> Result<(), FaultError> {
        let node = self.node(node)?;
        self.fleet
            .shape
            .promote(&self.fleet.nodes, &self.route, node)
            .await
    }

    async fn failover(&self, node: &str, mode: FailoverMode) -> Result<(), FaultError> {
        let node = self.node(node)?;
        self.fleet
            .shape
            .fail_over(&self.fleet.nodes, &self.route, node, mode)
            .await
    }

    fn server(&self, node: &str) -> Result<&dyn Server, FaultError> {
        self.node(node).map(Node::server)
    }

    fn network(&self) -> Option<&dyn Network> {
        self.wires.network()
    }

    fn machines(&self) -> Option<&dyn Machines> {
        // Whether a node or a client has the shim is said of each.
        Some(self)
    }

    fn clients(&self) -> &dyn Clients {
        self.registry.as_ref()
    }

    fn client_address(&self, client: &str) -> Option<IpAddr> {
        let introduced = self.introduced.lock().expect("no holder panics");
        introduced.get(client).copied()
    }
}
