//! A connection to the one server that takes writes, wherever it is now.

use std::sync::Arc;

use redis::{Cmd, Value};

use crate::client::{CallError, Connection, Dialer};
use crate::server::Route;

/// Follows the route: after a promotion the next command goes to the new primary.
pub struct Primary {
    dialer: Dialer,
    route: Arc<Route>,
    version: u64,
    connection: Connection,
}

impl Primary {
    /// Not connected yet.
    pub fn new(dialer: Dialer, route: Arc<Route>) -> Self {
        let version = route.version();
        let connection = connect(&dialer, &route);
        Self {
            dialer,
            route,
            version,
            connection,
        }
    }

    /// Sends one command.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn call(&mut self, command: &Cmd) -> Result<Value, CallError> {
        // A paused client must not learn of a promotion, and then use what it knew before.
        self.dialer.gate.pass().await?;
        let version = self.route.version();
        if version != self.version {
            self.connection = connect(&self.dialer, &self.route);
            self.version = version;
        }
        self.connection.call(command).await
    }
}

fn connect(dialer: &Dialer, route: &Route) -> Connection {
    let (_, address) = route
        .nodes()
        .into_iter()
        .next()
        .expect("a route has at least one node");
    Connection::new(dialer.clone(), address)
}
