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

impl From<WireError> for CallError {
    fn from(error: WireError) -> Self {
        match error {
            WireError::Server(text) => Self::Failed(text),
            WireError::Lost(text) => Self::Unknown(text),
        }
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

    /// Sends two commands in one go, the second as soon as the first and on the same connection,
    /// as WAIT asks for; nothing is ever sent twice.
    ///
    /// # Errors
    /// See [`CallError`]; the outer one tells that there is no reply to the second.
    pub async fn call_both(
        &mut self,
        commands: [&Cmd; 2],
    ) -> Result<[Result<Value, CallError>; 2], CallError> {
        let [first, second] = commands;
        self.dialer.gate.pass().await?;
        let within = self.dialer.reply_timeout;
        let exchange = async {
            let mut wire = self.take_wire().await?;
            self.dialer.gate.count_command();
            wire.write(first).await?;
            wire.write(second).await?;
            let mut replies = Vec::with_capacity(commands.len());
            for _ in commands {
                match wire.read().await {
                    Err(WireError::Lost(text)) => return Err(WireError::Lost(text)),
                    reply => replies.push(reply),
                }
            }
            self.wire = Some(wire);
            Ok(replies)
        };
        let result = timeout(within, exchange)
            .await
            .unwrap_or_else(|_| Err(late(within)));
        if result.is_ok() {
            self.dialer.gate.count_reply();
        }
        if let Err(killed) = self.dialer.gate.pass().await {
            self.wire = None;
            return Err(killed.into());
        }
        let mut replies = result?
            .into_iter()
            .map(|reply| reply.map_err(CallError::from));
        let mut next = || replies.next().expect("as many replies as commands");
        Ok([next(), next()])
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
            .unwrap_or_else(|_| Err(late(within)));
        if !matches!(result, Err(WireError::Lost(_))) {
            self.dialer.gate.count_reply();
        }
        let passed = self.dialer.gate.pass().await;
        if passed.is_err() {
            self.wire = None;
        }
        passed?;
        Ok(result?)
    }

    async fn exchange(&mut self, command: &Cmd) -> Result<Value, WireError> {
        let mut wire = self.take_wire().await?;
        self.dialer.gate.count_command();
        let result = wire.send(command).await;
        if !matches!(result, Err(WireError::Lost(_))) {
            self.wire = Some(wire);
        }
        result
    }

    /// The open connection, or a new one. It is put back only with all its replies read: an
    /// exchange that is given up half-way closes the connection.
    async fn take_wire(&mut self) -> Result<Wire, WireError> {
        match self.wire.take() {
            Some(wire) => Ok(wire),
            None => self.dialer.dial(self.address).await,
        }
    }
}

impl Dialer {
    /// Opens a connection to `address` from the client's own address.
    ///
    /// # Errors
    /// [`WireError::Lost`] when nobody answers.
    pub async fn dial(&self, address: SocketAddr) -> Result<Wire, WireError> {
        let lost =
            |error: std::io::Error| WireError::Lost(format!("no connection to {address}: {error}"));
        let socket = TcpSocket::new_v4().map_err(lost)?;
        socket
            .bind(SocketAddr::from((self.source, 0)))
            .map_err(lost)?;
        let stream = socket.connect(address).await.map_err(lost)?;
        stream.set_nodelay(true).map_err(lost)?;
        Ok(Wire::new(stream))
    }
}

fn late(within: Duration) -> WireError {
    WireError::Lost(format!("no reply within {} ms", within.as_millis()))
}
