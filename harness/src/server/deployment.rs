//! The servers of a run, as one thing: started together, broken by the nemesis, gone when dropped.

use std::collections::BTreeMap;
use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use lockstorm_nemesis::{Clients, Deployment, Fabric, FaultError, Network};
use lockstorm_scenarios::{FailoverMode, Memory, Replicated, Topology};
use tokio::time::{Instant, sleep};

use super::address::AddressBlock;
use super::binary::Program;
use super::cluster::{self, Leaders};
use super::error::EnvironmentError;
use super::node::Node;
use super::probe;
use super::route::Route;
use crate::client::Roster;

/// How long replicas may take to be in step with their primary.
const IN_STEP_WITHIN: Duration = Duration::from_secs(10);
/// Pause between two questions whether they are.
const POLL: Duration = Duration::from_millis(2);

/// What a deployment is made of.
pub struct ServerSettings {
    /// The servers to start.
    pub topology: Topology,
    /// The program that they run.
    pub program: Program,
    /// Port of all of them.
    pub port: u16,
    /// Folder that gets one folder for each node.
    pub folder: PathBuf,
    /// Put the fabric in the path, because links will be cut.
    pub fabric: bool,
}

/// Running servers with their network and the clients that use them.
pub struct Servers {
    program: Program,
    topology: Topology,
    addresses: AddressBlock,
    nodes: Vec<Node>,
    fabric: Option<Fabric>,
    route: Arc<Route>,
    roster: Arc<Roster>,
    /// Who leads which slots, in a Cluster.
    leaders: Option<Leaders>,
    /// Where the connections of each client come from.
    introduced: Mutex<BTreeMap<String, IpAddr>>,
}

impl Servers {
    /// Starts everything and waits until it is proved ready: each server answers and is ours,
    /// and each replica is in step.
    ///
    /// # Errors
    /// When a port is taken, a server does not start, or a replica does not catch up.
    pub async fn start(settings: ServerSettings) -> Result<Self, EnvironmentError> {
        let leaders = match &settings.topology {
            Topology::Cluster(spec) => {
                cluster::check_port(settings.port)?;
                Some(Leaders::new(spec))
            }
            Topology::Single(_) | Topology::Replicated(_) | Topology::Independent(_) => None,
        };
        let addresses = AddressBlock::claim(settings.port)?;
        let nodes = plan_nodes(&settings, &addresses)?;
        let fabric = settings.fabric.then(Fabric::new);
        if let Some(fabric) = &fabric {
            for node in &nodes {
                expose(fabric, node).await?;
            }
        }
        let writable = match &settings.topology {
            Topology::Single(_) | Topology::Replicated(_) => &nodes[..1],
            Topology::Independent(_) => &nodes[..],
            Topology::Cluster(spec) => &nodes[..spec.shards as usize],
        };
        let route = writable
            .iter()
            .map(|node| (node.name.clone(), node.public))
            .collect();
        let servers = Self {
            program: settings.program,
            topology: settings.topology,
            addresses,
            fabric,
            route: Arc::new(Route::new(route)),
            roster: Arc::default(),
            introduced: Mutex::default(),
            leaders,
            nodes,
        };
        // A primary first, for its replicas ask for it at once.
        for node in &servers.nodes {
            node.start(&servers.program, Memory::Lost).await?;
        }
        servers.wait_until_ready().await?;
        Ok(servers)
    }

    /// Where clients go.
    pub fn route(&self) -> Arc<Route> {
        self.route.clone()
    }

    /// Who the clients are.
    pub fn roster(&self) -> Arc<Roster> {
        self.roster.clone()
    }

    /// The nodes, in order.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The source address of client number `n`, made known to the fabric under its name.
    pub fn introduce_client(&self, name: &str, n: usize) -> IpAddr {
        let address = self.addresses.client(n);
        self.introduced
            .lock()
            .expect("no holder panics")
            .insert(name.to_owned(), address);
        if let Some(fabric) = &self.fabric {
            fabric.introduce(name, address);
        }
        address
    }

    /// Servers that died though nobody killed them, each with how it ended. A run with one of
    /// these has tested something else than it says.
    pub fn casualties(&self) -> Vec<String> {
        let ended = |node: &Node| Some(format!("{} ended with {}", node.name, node.exited()?));
        self.nodes.iter().filter_map(ended).collect()
    }

    /// Whether the fabric is in the path.
    pub fn has_fabric(&self) -> bool {
        self.fabric.is_some()
    }

    fn node(&self, name: &str) -> Result<&Node, FaultError> {
        self.nodes
            .iter()
            .find(|node| node.name == name)
            .ok_or_else(|| FaultError::UnknownNode(name.to_owned()))
    }

    async fn wait_until_ready(&self) -> Result<(), EnvironmentError> {
        match &self.topology {
            Topology::Single(_) | Topology::Independent(_) => Ok(()),
            Topology::Replicated(replicated) => self.wait_until_in_step(replicated).await,
            Topology::Cluster(spec) => cluster::wait_until_ready(spec, &self.nodes).await,
        }
    }

    async fn wait_until_in_step(&self, replicated: &Replicated) -> Result<(), EnvironmentError> {
        let primary = &self.nodes[0];
        let deadline = Instant::now() + IN_STEP_WITHIN;
        loop {
            let reached = probe::replicas_in_step(primary.private).await;
            if reached == Ok(i64::from(replicated.replicas)) {
                return Ok(());
            }
            if Instant::now() > deadline {
                return Err(EnvironmentError::NotReady {
                    node: primary.name.clone(),
                    address: primary.private.to_string(),
                    reason: match reached {
                        Ok(n) => format!("{n} of {} replicas are in step", replicated.replicas),
                        Err(reason) => reason,
                    },
                });
            }
            sleep(POLL).await;
        }
    }
}

/// The nodes of a topology, each with a folder of its own.
fn plan_nodes(
    settings: &ServerSettings,
    addresses: &AddressBlock,
) -> Result<Vec<Node>, EnvironmentError> {
    let replicated = matches!(settings.topology, Topology::Replicated(_));
    let names = settings.topology.nodes();
    let all: Vec<_> = (0..names.len()).map(|n| addresses.public(n)).collect();
    let at = |n: usize| -> (SocketAddr, SocketAddr) {
        let public = addresses.public(n);
        (
            public,
            if settings.fabric {
                addresses.private(n)
            } else {
                public
            },
        )
    };
    names
        .into_iter()
        .enumerate()
        .map(|(n, name)| {
            let folder = settings.folder.join(&name);
            fs::create_dir_all(&folder)
                .map_err(EnvironmentError::io("create", folder.display().to_string()))?;
            let primary = (replicated && n > 0).then(|| at(0).0);
            let persistence = settings.topology.persistence();
            let mut node = Node::new(name, at(n), primary, persistence, folder);
            if let Topology::Cluster(spec) = &settings.topology {
                node.settings = cluster::settings(spec, node.public);
                node.introduction = Some(cluster::nodes_conf(spec, &all, n));
            }
            Ok(node)
        })
        .collect()
}

/// Puts the fabric in front of a node, and of its bus where it has one.
async fn expose(fabric: &Fabric, node: &Node) -> Result<(), EnvironmentError> {
    let mut doors = vec![(node.public, node.private)];
    if node.introduction.is_some() {
        doors.push((cluster::bus(node.public), cluster::bus(node.private)));
    }
    for (public, private) in doors {
        fabric
            .expose(&node.name, public, private)
            .await
            .map_err(EnvironmentError::io("listen on", public.to_string()))?;
    }
    Ok(())
}

/// An error about a node, for the nemesis.
fn node_error(action: &'static str, node: &str) -> impl FnOnce(String) -> FaultError {
    move |reason| FaultError::Node {
        action,
        node: node.to_owned(),
        reason,
    }
}

#[async_trait]
impl Deployment for Servers {
    fn nodes(&self) -> Vec<String> {
        self.nodes.iter().map(|node| node.name.clone()).collect()
    }

    async fn writable(&self) -> Vec<String> {
        if let Some(leaders) = &self.leaders {
            leaders.look(&self.nodes).await;
            let all = leaders.all().into_iter();
            return all.map(|n| self.nodes[n].name.clone()).collect();
        }
        self.route
            .nodes()
            .into_iter()
            .map(|(name, _)| name)
            .collect()
    }

    fn pid(&self, node: &str) -> Option<i32> {
        self.node(node).ok()?.pid()
    }

    async fn kill(&self, node: &str) -> Result<(), FaultError> {
        self.node(node).map(Node::kill)
    }

    async fn start(&self, node: &str, memory: Memory) -> Result<(), FaultError> {
        let started = self.node(node)?.start(&self.program, memory).await;
        started.map_err(|error| node_error("start", node)(error.to_string()))
    }

    async fn keepers(&self, key: &str) -> Vec<String> {
        let writable = self.writable().await;
        match &self.leaders {
            Some(leaders) => vec![self.nodes[leaders.of(key)].name.clone()],
            None => writable,
        }
    }

    fn rejoins(&self) -> bool {
        match self.topology {
            Topology::Single(_) | Topology::Replicated(_) | Topology::Independent(_) => false,
            Topology::Cluster(_) => true,
        }
    }

    async fn promote(&self, node: &str) -> Result<(), FaultError> {
        let promoted = self.node(node)?;
        self.command(node, &["REPLICAOF", "NO", "ONE"]).await?;
        let (ip, port) = (
            promoted.public.ip().to_string(),
            promoted.public.port().to_string(),
        );
        for other in self
            .nodes
            .iter()
            .filter(|other| other.name != node && other.pid().is_some())
        {
            // The former primary is not told: nobody tells it in a real failover either.
            if other.primary.is_some() {
                self.command(&other.name, &["REPLICAOF", &ip, &port])
                    .await?;
            }
        }
        self.route
            .replace(vec![(promoted.name.clone(), promoted.public)]);
        Ok(())
    }

    async fn failover(&self, node: &str, mode: FailoverMode) -> Result<(), FaultError> {
        if self.leaders.is_none() {
            return Err(node_error("fail over to", node)(
                "it is no part of a Cluster".to_owned(),
            ));
        }
        let command: &[&str] = match mode {
            FailoverMode::Agreed => &["CLUSTER", "FAILOVER"],
            FailoverMode::Force => &["CLUSTER", "FAILOVER", "FORCE"],
            FailoverMode::Takeover => &["CLUSTER", "FAILOVER", "TAKEOVER"],
        };
        self.command(node, command).await.map(|_| ())
    }

    async fn command(&self, node: &str, args: &[&str]) -> Result<String, FaultError> {
        let address = self.node(node)?.private;
        probe::ask(address, args)
            .await
            .map_err(node_error("ask", node))
    }

    fn network(&self) -> Option<&dyn Network> {
        self.fabric.as_ref().map(|fabric| fabric as &dyn Network)
    }

    fn clients(&self) -> &dyn Clients {
        self.roster.as_ref()
    }

    fn client_address(&self, client: &str) -> Option<IpAddr> {
        let introduced = self.introduced.lock().expect("no holder panics");
        introduced.get(client).copied()
    }
}
