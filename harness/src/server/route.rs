//! Which servers clients talk to, now: moves with a promotion.

use std::net::SocketAddr;
use std::sync::RwLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The nodes that take writes, as clients see them. Shared by all clients of a run.
#[derive(Debug)]
pub struct Route {
    version: AtomicU64,
    nodes: RwLock<Vec<(String, SocketAddr)>>,
}

impl Route {
    /// A route to `nodes`, each with its public address.
    pub fn new(nodes: Vec<(String, SocketAddr)>) -> Self {
        Self {
            version: AtomicU64::new(0),
            nodes: RwLock::new(nodes),
        }
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
