//! A connection to the one server that takes writes, wherever it is now.

use std::net::SocketAddr;
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
        self.follow().await?;
        self.connection.call(command).await
    }

    /// Sends two commands in one go, on one connection.
    ///
    /// # Errors
    /// See [`Connection::call_both`].
    pub async fn call_both(
        &mut self,
        commands: [&Cmd; 2],
    ) -> Result<[Result<Value, CallError>; 2], CallError> {
        self.follow().await?;
        self.connection.call_both(commands).await
    }

    /// Where writes go now.
    pub fn address(&self) -> SocketAddr {
        address(&self.route)
    }

    /// Changes with the server that takes writes.
    pub fn version(&self) -> u64 {
        self.route.version()
    }

    async fn follow(&mut self) -> Result<(), CallError> {
        // A paused client must not learn of a promotion, and then use what it knew before.
        self.dialer.gate.pass().await?;
        let version = self.route.version();
        if version != self.version {
            self.connection = connect(&self.dialer, &self.route);
            self.version = version;
        }
        Ok(())
    }
}

fn connect(dialer: &Dialer, route: &Route) -> Connection {
    Connection::new(dialer.clone(), address(route))
}

fn address(route: &Route) -> SocketAddr {
    let first = route.nodes().into_iter().next();
    first.expect("a route has at least one node").1
}
