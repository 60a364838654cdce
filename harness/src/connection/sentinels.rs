//! Finds the primary by asking sentinels, as their clients are told to do.
//!
//! Source: the Redis documentation, "Sentinel client spec": ask one sentinel after the other until
//! one answers, connect to the server that it names, and have that say by ROLE what it is.
//! One search looks at one server: whoever it disappoints asks again with its next operation, and
//! first another sentinel.

use std::net::SocketAddr;
use std::time::Duration;

use redis::{Cmd, Value};
use tokio::time::timeout;

use super::dialer::{CallError, Dialer};
use super::route::Sentinels;
use super::wire::{Wire, WireError};

/// Asks the sentinels of one client.
pub struct Finder {
    dialer: Dialer,
    sentinels: Sentinels,
    /// Index of the one that is asked first.
    first: usize,
}

/// A server that a sentinel named as the primary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Address of the server.
    pub address: SocketAddr,
    /// Name of the sentinel.
    pub by: String,
}

/// A server that says it is the primary.
pub struct Found {
    /// Its name.
    pub name: String,
    /// Address of the server.
    pub address: SocketAddr,
    /// An open connection to it.
    pub wire: Wire,
    /// Name of the sentinel that named it.
    pub by: String,
}

impl Finder {
    /// Has asked nobody yet.
    pub const fn new(dialer: Dialer, sentinels: Sentinels) -> Self {
        Self {
            dialer,
            sentinels,
            first: 0,
        }
    }

    /// Returns the sentinels that it asks.
    pub const fn sentinels(&self) -> &Sentinels {
        &self.sentinels
    }

    /// Asks who the primary is, and connects to it.
    ///
    /// # Errors
    /// [`CallError::Unknown`] where nobody answers, or whoever is named does not or is no primary.
    pub async fn find(&mut self) -> Result<Found, CallError> {
        let Named { address, by } = self.ask_any().await?;
        let found = self.greet(address, by).await;
        if found.is_err() {
            self.ask_another_first();
        }
        found
    }

    /// Asks one sentinel after the other who the primary is, until one answers; that one is asked
    /// first the next time.
    ///
    /// # Errors
    /// [`CallError::Unknown`] where nobody answers.
    pub async fn ask_any(&mut self) -> Result<Named, CallError> {
        let mut last = "there are no sentinels".to_owned();
        for _ in 0..self.sentinels.sentinels.len() {
            match self.ask(self.first).await {
                Ok(address) => {
                    let by = self.sentinels.sentinels[self.first].0.clone();
                    return Ok(Named { address, by });
                }
                Err(error) => last = error.to_string(),
            }
            self.ask_another_first();
        }
        Err(CallError::Unknown(format!("no sentinel answers: {last}")))
    }

    /// Turns to the next sentinel, which may know better.
    pub const fn ask_another_first(&mut self) {
        self.first = (self.first + 1) % self.sentinels.sentinels.len();
    }

    /// Connects to the server at `address`, if it is a primary, which `by` has said.
    ///
    /// # Errors
    /// See [`Finder::find`].
    pub async fn greet(&self, address: SocketAddr, by: String) -> Result<Found, CallError> {
        let name = self.sentinels.name_of(address);
        let unknown = |why: &str| Err(CallError::Unknown(format!("{by} names {name}: {why}")));
        let greeted = async {
            let mut wire = self.dialer.dial(address).await?;
            let role = wire.send(&redis::cmd("ROLE")).await?;
            Ok::<_, WireError>((wire, role))
        };
        match self.in_time(greeted).await {
            Ok((wire, role)) if is_primary(&role) => Ok(Found {
                name,
                address,
                wire,
                by,
            }),
            Ok(_) => unknown("it says that it is no primary"),
            Err(error) => unknown(&error.to_string()),
        }
    }

    async fn ask(&self, at: usize) -> Result<SocketAddr, WireError> {
        let (name, address) = &self.sentinels.sentinels[at];
        let mut command = Cmd::new();
        command
            .arg("SENTINEL")
            .arg("GET-MASTER-ADDR-BY-NAME")
            .arg(&self.sentinels.master);
        let asked = async {
            let mut wire = self.dialer.dial(*address).await?;
            wire.send(&command).await
        };
        let reply = self.in_time(asked).await?;
        named(&reply).ok_or_else(|| WireError::Lost(format!("{name} names nobody")))
    }

    /// No longer than a reply may take.
    async fn in_time<T>(
        &self,
        asked: impl Future<Output = Result<T, WireError>>,
    ) -> Result<T, WireError> {
        let within: Duration = self.dialer.reply_timeout;
        timeout(within, asked).await.unwrap_or_else(|_| {
            let text = format!("no reply within {} ms", within.as_millis());
            Err(WireError::Lost(text))
        })
    }
}

/// The address in a reply to GET-MASTER-ADDR-BY-NAME.
fn named(reply: &Value) -> Option<SocketAddr> {
    let Value::Array(parts) = reply else {
        return None;
    };
    let [ip, port] = parts.as_slice() else {
        return None;
    };
    let (ip, port) = (text(ip)?, text(port)?);
    Some(SocketAddr::new(ip.parse().ok()?, port.parse().ok()?))
}

fn is_primary(role: &Value) -> bool {
    let Value::Array(parts) = role else {
        return false;
    };
    parts.first().and_then(text) == Some("master")
}

fn text(value: &Value) -> Option<&str> {
    match value {
        Value::BulkString(bytes) => std::str::from_utf8(bytes).ok(),
        Value::SimpleString(text) => Some(text),
        _ => None,
    }
}
