//! A client's connection to one node: opened when first needed, closed when it disappoints.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use redis::{Cmd, Value};
use tokio::net::TcpSocket;
use tokio::time::timeout;

use super::gate::{Gate, Killed};
use super::wire::{Wire, WireError};

/// What a client needs to open connections.
#[derive(Clone, Debug)]
pub struct Dialer {
    /// Source address: by it the fabric knows who calls.
    pub source: IpAddr,
    /// Passed by every command.
    pub gate: Arc<Gate>,
    /// How long to wait for a connection together with a reply.
    pub reply_timeout: Duration,
}

/// A connection of one client to one node.
pub struct Connection {
    dialer: Dialer,
    address: SocketAddr,
    wire: Option<Wire>,
}

/// What came of a command that has no reply to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallError {
    /// The server refused to execute it: it certainly had no effect.
    Failed(String),
    /// Nobody knows: it may have an effect, now or later.
    Unknown(String),
    /// The client died waiting.
    Killed,
}

impl From<Killed> for CallError {
    fn from(_: Killed) -> Self {
        Self::Killed
    }
}

impl Connection {
    /// A connection to `address`, not opened yet.
    pub fn new(dialer: Dialer, address: SocketAddr) -> Self {
        Self {
            dialer,
            address,
            wire: None,
        }
    }

    /// Sends one command; nothing is ever sent twice. A connection that gave no reply is closed:
    /// a late reply must not be taken for that of a later command.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn call(&mut self, command: &Cmd) -> Result<Value, CallError> {
        self.dialer.gate.pass().await?;
        let within = self.dialer.reply_timeout;
        let result = timeout(within, self.exchange(command))
            .await
            .unwrap_or_else(|_| {
                Err(WireError::Lost(format!(
                    "no reply within {} ms",
                    within.as_millis()
                )))
            });
        if !matches!(result, Err(WireError::Lost(_))) {
            self.dialer.gate.count_reply();
        }
        let passed = self.dialer.gate.pass().await;
        if passed.is_err() {
            self.wire = None;
        }
        passed?;
        result.map_err(|error| match error {
            WireError::Server(text) => CallError::Failed(text),
            WireError::Lost(text) => CallError::Unknown(text),
        })
    }

    async fn exchange(&mut self, command: &Cmd) -> Result<Value, WireError> {
        // Taken out, and put back only with its reply read: an exchange that is given up
        // half-way closes the connection.
        let mut wire = match self.wire.take() {
            Some(wire) => wire,
            None => self.open().await?,
        };
        self.dialer.gate.count_command();
        let result = wire.send(command).await;
        if !matches!(result, Err(WireError::Lost(_))) {
            self.wire = Some(wire);
        }
        result
    }

    async fn open(&self) -> Result<Wire, WireError> {
        let lost = |error: std::io::Error| {
            WireError::Lost(format!("no connection to {}: {error}", self.address))
        };
        let socket = TcpSocket::new_v4().map_err(lost)?;
        socket
            .bind(SocketAddr::from((self.dialer.source, 0)))
            .map_err(lost)?;
        let stream = socket.connect(self.address).await.map_err(lost)?;
        stream.set_nodelay(true).map_err(lost)?;
        Ok(Wire::new(stream))
    }
}
