//! Several servers that all take requests: a client talks to one of them until that gives no
//! answer, and then to the next.

use std::net::SocketAddr;
use std::sync::Arc;

use lockstorm_checker::history::{Name, RouteNote};
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

use super::dialer::Dialer;
use super::route::Route;

/// One client's choice among them.
pub struct Several {
    /// Settings of its connections.
    pub dialer: Dialer,
    servers: Vec<(Name, SocketAddr)>,
    /// Number of the server that it talks to.
    at: usize,
    /// Server that requests went to so far, if they did; then the reason why they go elsewhere, or
    /// to it over a new connection.
    was_at: Option<Name>,
    why: String,
}

impl Several {
    /// Talks to the first of them first.
    pub fn new(dialer: Dialer, route: &Arc<Route>) -> Self {
        let servers = route.nodes().into_iter();
        Self {
            dialer,
            servers: servers.map(|(name, at)| (name.into(), at)).collect(),
            at: 0,
            was_at: None,
            why: "first use".to_owned(),
        }
    }

    /// Talks to any of them first, so that clients spread over all.
    pub fn start_anywhere(&mut self, rng: &mut ChaCha8Rng) {
        self.at = rng.random_range(0..self.servers.len().max(1));
    }

    /// The server that it talks to.
    pub fn asked(&self) -> Option<Name> {
        self.servers.get(self.at).map(|(name, _)| Name::clone(name))
    }

    /// Number of servers: so many tries reach each of them.
    pub const fn count(&self) -> usize {
        self.servers.len()
    }

    /// Address of the server that it talks to.
    pub fn address(&self) -> SocketAddr {
        self.servers[self.at].1
    }

    /// Returns the reason why it turned to this server.
    pub fn why(&self) -> &str {
        &self.why
    }

    /// Writes down that requests go to this server from here on.
    pub async fn arrive(&mut self) {
        let Some(to) = self.asked() else {
            return;
        };
        let note = RouteNote {
            from: self.was_at.replace(Name::clone(&to)),
            to,
            why: self.why.as_str().into(),
        };
        self.dialer.trail.routed(note).await;
    }

    /// Turns to the servers that the route names now.
    pub fn lead_to(&mut self, route: &Arc<Route>) {
        let servers = route.nodes().into_iter();
        self.servers = servers.map(|(name, at)| (name.into(), at)).collect();
        self.at = 0;
        "the route leads elsewhere".clone_into(&mut self.why);
    }

    /// Turns to the next server because of `why`.
    pub fn turn(&mut self, why: String) {
        self.why = why;
        self.at = (self.at + 1) % self.servers.len().max(1);
    }
}
