//! Route by which clients find the servers that take writes.

use std::net::SocketAddr;
use std::sync::RwLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The nodes that take writes, and how clients learn of a change. Shared by all clients of a run.
#[derive(Debug)]
pub struct Route {
    guide: Guide,
    version: AtomicU64,
    nodes: RwLock<Vec<(String, SocketAddr)>>,
}

/// Way in which clients learn which nodes take writes.
#[derive(Debug)]
pub enum Guide {
    /// The route says so: it moves with a promotion, and clients with it.
    Told,
    /// Each client asks the sentinels by itself, and may be behind; the route only says where
    /// writes are taken in truth.
    Sentinels(Sentinels),
    /// Each client finds its way through a Cluster by itself, and is configured with all of these
    /// servers, by names and public addresses.
    Shards(Vec<(String, SocketAddr)>),
}

/// Settings of a client of sentinels, and the names of all servers.
#[derive(Clone, Debug)]
pub struct Sentinels {
    /// Name by which sentinels call the primary, whichever server that is.
    pub master: String,
    /// Names and public addresses of the sentinels.
    pub sentinels: Vec<(String, SocketAddr)>,
    /// Names and public addresses of the servers that they watch over, the first primary first.
    pub servers: Vec<(String, SocketAddr)>,
}

impl Route {
    /// A route to `nodes`, each with its public address.
    pub fn new(nodes: Vec<(String, SocketAddr)>) -> Self {
        Self::guided(Guide::Told, nodes)
    }

    /// A route to whomever the sentinels name.
    pub fn by_sentinels(sentinels: Sentinels) -> Self {
        let first = sentinels.servers.iter().take(1).cloned().collect();
        Self::guided(Guide::Sentinels(sentinels), first)
    }

    /// A route into a Cluster of these servers, of which the first `shards` lead at first.
    pub fn by_shards(servers: Vec<(String, SocketAddr)>, shards: usize) -> Self {
        let leaders = servers[..shards].to_vec();
        Self::guided(Guide::Shards(servers), leaders)
    }

    fn guided(guide: Guide, nodes: Vec<(String, SocketAddr)>) -> Self {
        Self {
            guide,
            version: AtomicU64::new(0),
            nodes: RwLock::new(nodes),
        }
    }

    /// Returns the way in which clients learn of a change.
    pub const fn guide(&self) -> &Guide {
        &self.guide
    }

    /// Changes whenever the nodes do: a connection made under another version is out of date.
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Names and addresses, in order.
    pub fn nodes(&self) -> Vec<(String, SocketAddr)> {
        self.nodes
            .read()
            .expect("no holder of this lock panics")
            .clone()
    }

    /// Sends clients elsewhere from their next operation on.
    pub fn replace(&self, nodes: Vec<(String, SocketAddr)>) {
        *self.nodes.write().expect("no holder of this lock panics") = nodes;
        self.version.fetch_add(1, Ordering::AcqRel);
    }
}

impl Sentinels {
    /// Returns the name of the server at `address`.
    pub fn name_of(&self, address: SocketAddr) -> String {
        let known = self.servers.iter().find(|(_, at)| *at == address);
        known.map_or_else(|| address.to_string(), |(name, _)| name.clone())
    }
}
