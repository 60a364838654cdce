//! The servers themselves, whoever uses them: their program, their nodes and their addresses.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;

use lockstorm_scenarios::Topology;

use super::address::AddressBlock;
use super::binary::Program;
use super::deployment::ServerSettings;
use super::node::Node;
use super::shape::{Address, NodePlace, Shape, shape_of};
use crate::environment_error::EnvironmentError;
use crate::process::Shim;

/// Servers of a topology, and the addresses that nobody else has while they run.
pub struct Fleet {
    pub(super) topology: Topology,
    pub(super) shape: Box<dyn Shape>,
    pub(super) program: Program,
    /// Dropped before the addresses, which are free only then.
    pub(super) nodes: Vec<Node>,
    pub(super) addresses: AddressBlock,
}

impl Fleet {
    /// Gives each node its addresses and its folder; none of them runs yet.
    ///
    /// # Errors
    /// When a port is taken, the program is not there, or a folder cannot be made.
    pub(super) fn plan(settings: &ServerSettings, folder: &Path) -> Result<Self, EnvironmentError> {
        let shape = shape_of(&settings.topology);
        shape.check_port(settings.port)?;
        let program = shape.program(settings.program.clone())?;
        let addresses = AddressBlock::claim(settings.port)?;
        let nodes = plan_nodes(settings, folder, (&program, &*shape, &addresses))?;
        Ok(Self {
            topology: settings.topology.clone(),
            shape,
            program,
            nodes,
            addresses,
        })
    }

    /// Starts them, and proves that they work together.
    ///
    /// # Errors
    /// When one does not get ready.
    pub(super) async fn start(&self) -> Result<(), EnvironmentError> {
        self.shape.start(&self.nodes).await
    }

    /// Removes all that earlier clients have left, and proves that the servers are as after their
    /// start.
    ///
    /// # Errors
    /// When they are not.
    pub(super) async fn clean(&self) -> Result<(), EnvironmentError> {
        if let Some(dead) = self.nodes.iter().find(|node| node.exited().is_some()) {
            return Err(dead.not_ready("it died"));
        }
        self.shape.clean(&self.nodes).await
    }

    /// Servers that died though nobody killed them, each with how it ended.
    pub(super) fn casualties(&self) -> Vec<String> {
        let ended = |node: &Node| Some(format!("{} ended with {}", node.name, node.exited()?));
        self.nodes.iter().filter_map(ended).collect()
    }
}

/// The nodes of a topology, each with a folder of its own.
fn plan_nodes(
    settings: &ServerSettings,
    folder: &Path,
    (program, shape, addresses): (&Program, &dyn Shape, &AddressBlock),
) -> Result<Vec<Node>, EnvironmentError> {
    let names = settings.topology.nodes();
    let external = settings.topology.external().is_some();
    let public: Vec<SocketAddr> = (0..names.len()).map(|n| addresses.public(n)).collect();
    let roles = shape.roles(&public);
    let shim = if settings.shim {
        Some(Shim::new().map_err(EnvironmentError::io("load", "the shim"))?)
    } else {
        None
    };
    let private = |n: usize| {
        if external {
            // The gateway tells by its doors who comes.
            addresses.private(n)
        } else {
            settings.wiring.behind(public[n], addresses.private(n))
        }
    };
    let all = names.iter().enumerate().map(|(n, name)| Address {
        name: name.clone(),
        public: public[n],
        private: private(n),
    });
    let all: Vec<Address> = all.collect();
    let mut nodes = Vec::with_capacity(names.len());
    for (n, (name, role)) in names.into_iter().zip(roles).enumerate() {
        let folder = folder.join(&name);
        // Servers elsewhere keep their files to themselves.
        if !external {
            fs::create_dir_all(&folder)
                .map_err(EnvironmentError::io("create", folder.display().to_string()))?;
        }
        let at = (all[n].public, all[n].private);
        let software = shape.software(NodePlace {
            name: &name,
            program,
            public: at.0,
            private: at.1,
            all: &all,
            role: &role,
            folder: &folder,
        });
        let mut node = Node::new(name, at, role, folder, software);
        if let Some(shim) = &shim {
            let page = shim.page();
            node.page = Some(page.map_err(EnvironmentError::io("load", "the shim"))?);
        }
        nodes.push(node);
    }
    Ok(nodes)
}
