//! Directory of the servers, as the program of one client is told of them.

use std::net::SocketAddr;

use super::message::{Server, Watch};
use crate::connection::{Guide, Route};
use crate::server::Servers;

/// Where one client finds the servers: on the ports that all use, or on one of its own.
#[derive(Clone, Copy, Debug, Default)]
pub struct Directory {
    port: Option<u16>,
}

impl Directory {
    /// A client that finds every server on this port; `None` stands for the port that all use.
    pub const fn at_port(port: Option<u16>) -> Self {
        Self { port }
    }

    /// Tells whether the client has a port of its own.
    pub const fn is_own(self) -> bool {
        self.port.is_some()
    }

    /// The servers of a route.
    pub fn servers(self, route: &Route) -> Vec<Server> {
        self.listed(&route.nodes())
    }

    /// All servers of a deployment.
    pub fn nodes(self, servers: &Servers) -> Vec<Server> {
        let nodes = servers.nodes().iter();
        let places: Vec<_> = nodes.map(|node| (node.name.clone(), node.public)).collect();
        self.listed(&places)
    }

    /// The sentinels of a route, if it has some.
    pub fn watch(self, route: &Route) -> Option<Watch> {
        match route.guide() {
            Guide::Told | Guide::Shards(_) => None,
            Guide::Sentinels(sentinels) => Some(Watch {
                master: sentinels.master.clone(),
                sentinels: self.listed(&sentinels.sentinels),
                servers: self.listed(&sentinels.servers),
            }),
        }
    }

    fn listed(self, places: &[(String, SocketAddr)]) -> Vec<Server> {
        let server = |(name, address): &(String, SocketAddr)| {
            let port = self.port.unwrap_or(address.port());
            Server {
                name: name.clone(),
                address: SocketAddr::new(address.ip(), port).to_string(),
            }
        };
        places.iter().map(server).collect()
    }
}
