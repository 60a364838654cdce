//! Client that the adapter is to be.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::Ask;
use crate::moment::Moment;
use crate::outlet::Outlet;
use crate::wire::{Note, Told};

/// Client that the adapter is to be, and the way to tell the harness what the library says
/// unasked. That may be done from any task or thread, also while a call is under way.
#[derive(Clone, Debug)]
pub struct Client {
    /// Its name in the scenario.
    pub name: String,
    /// Time to live of a grant; none for a lock that never expires.
    pub lease: Option<Duration>,
    /// Time between two renewals by a watchdog; none where leases are not renewed.
    pub renew_every: Option<Duration>,
    /// Time that the scenario would wait for the reply of a server.
    pub patience: Duration,
    /// Time to wait for one of several servers that are asked for one lock; none for the library's
    /// own.
    pub node_timeout: Option<Duration>,
    /// Number of permits that a semaphore has in all; 1 for a mutex.
    pub permits: u32,
    /// Name by which the library is to call its owner; none for its own.
    pub identity: Option<String>,
    /// Shape of the deployment: `single`, `replicated`, `sentinel`, `cluster`, `independent`.
    pub topology: String,
    /// The servers that take writes, in order.
    pub servers: Vec<Server>,
    /// All servers.
    pub nodes: Vec<Server>,
    /// Sentinels, where there are some.
    pub sentinels: Option<Sentinels>,
    /// Seed of whatever is drawn at random.
    pub seed: u64,
    /// The request as it came.
    pub request: Value,
    pub(crate) outlet: Arc<Outlet>,
}

/// Server with its name and its address.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Server {
    /// Name in the scenario, such as `primary`.
    pub name: String,
    /// Host and port.
    pub address: SocketAddr,
}

/// Sentinels, who know which server is the primary.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Sentinels {
    /// Name by which they call the primary, whichever server it is.
    pub master: String,
    /// The sentinels themselves.
    pub sentinels: Vec<Server>,
    /// The servers that they watch over, the first primary first.
    pub servers: Vec<Server>,
}

impl Client {
    /// Tells that the library says that the lock is lost.
    pub fn lost(&self, ask: &Ask) {
        self.lost_at(ask, self.outlet.now());
    }

    /// Tells that the library said so at this moment.
    pub(crate) fn lost_at(&self, ask: &Ask, moment: Option<Moment>) {
        self.outlet.ledger().lose(ask);
        self.outlet.note(&Note::Lost(Told::new(ask, moment)));
    }

    /// Tells that the library says that it does not know whether the lock is held.
    pub fn suspended(&self, ask: &Ask) {
        let moment = self.outlet.now();
        self.outlet.ledger().suspend(ask);
        self.outlet.note(&Note::Suspended(Told::new(ask, moment)));
    }

    /// Tells that the library knows again: the lock was held all the time.
    pub fn resumed(&self, ask: &Ask) {
        let moment = self.outlet.now();
        self.outlet.ledger().resume(ask);
        self.outlet.note(&Note::Resumed(Told::new(ask, moment)));
    }

    /// Tells that the client has taken a place in the queue, during an acquire or an await.
    pub fn queued(&self, key: &str) {
        self.outlet.note(&Note::Queued { key });
    }

    /// Tells that commands go to another server from here on, or to the same over a new connection.
    pub fn routed(&self, to: &str, from: Option<&str>, why: Option<&str>) {
        self.outlet.note(&Note::Routed { to, from, why });
    }
}
