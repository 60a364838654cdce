//! A client's subscription: hears what is published on one channel.
//!
//! For: waking a client that waits for a lock. Not for: anything that a verdict rests on; a
//! message that is late or lost costs time, and no more. There is a connection for it alone, with
//! the third version of the protocol, opened when first needed.

use std::net::SocketAddr;
use std::time::Duration;

use redis::{PushKind, Value};
use tokio::time::timeout;

use super::connection::{CallError, Dialer};
use super::wire::{Wire, WireError};

/// Hears one channel at a time.
pub struct Listener {
    dialer: Dialer,
    wire: Option<(SocketAddr, Wire)>,
    channel: Option<String>,
}

impl Listener {
    /// Hears nothing yet.
    pub fn new(dialer: Dialer) -> Self {
        Self {
            dialer,
            wire: None,
            channel: None,
        }
    }

    /// Hears `channel` of the server at `address` from now on; `false` if it did so already.
    /// What was published before was not heard: who waits for something must look once more.
    ///
    /// # Errors
    /// See [`CallError`]; then nothing is heard.
    pub async fn subscribe(
        &mut self,
        address: SocketAddr,
        channel: &str,
    ) -> Result<bool, CallError> {
        self.dialer.gate.pass().await?;
        let open = self.wire.as_ref().is_some_and(|(to, _)| *to == address);
        if open && self.channel.as_deref() == Some(channel) {
            return Ok(false);
        }
        if !open {
            self.close();
        }
        self.unsubscribe().await?;
        let within = self.dialer.reply_timeout;
        let subscribed = timeout(within, self.open(address, channel)).await;
        self.dialer.gate.pass().await?;
        match subscribed {
            Ok(Ok(())) => {
                self.channel = Some(channel.to_owned());
                Ok(true)
            }
            Ok(Err(error)) => {
                self.close();
                Err(error.into())
            }
            Err(_) => {
                self.close();
                let why = format!("no subscription within {} ms", within.as_millis());
                Err(CallError::Unknown(why))
            }
        }
    }

    /// Waits for a message, for no longer than `at_most`. A lost subscription, a wait that is over
    /// and the client's death end it just as well: whoever waited looks for itself.
    pub async fn message(&mut self, at_most: Duration) {
        let Some((_, wire)) = &mut self.wire else {
            return;
        };
        let heard = tokio::select! {
            heard = timeout(at_most, next_message(wire)) => heard,
            _ = self.dialer.gate.death() => return,
        };
        if matches!(heard, Ok(Err(_))) {
            self.close();
        }
    }

    /// Hears nothing any more.
    ///
    /// # Errors
    /// The client's death; anything else only closes the connection.
    pub async fn unsubscribe(&mut self) -> Result<(), CallError> {
        self.dialer.gate.pass().await?;
        let (Some((_, wire)), Some(channel)) = (&mut self.wire, self.channel.take()) else {
            return Ok(());
        };
        let mut command = redis::cmd("UNSUBSCRIBE");
        command.arg(channel);
        // Nobody waits for the confirmation, nor for messages that were under way: whatever comes
        // before the next subscription is confirmed counts for nothing.
        if wire.write(&command).await.is_err() {
            self.close();
        }
        Ok(())
    }

    async fn open(&mut self, address: SocketAddr, channel: &str) -> Result<(), WireError> {
        if self.wire.is_none() {
            let mut wire = self.dialer.dial(address).await?;
            wire.send(redis::cmd("HELLO").arg(3)).await?;
            self.wire = Some((address, wire));
        }
        let (_, wire) = self.wire.as_mut().expect("it was opened just now");
        wire.write(redis::cmd("SUBSCRIBE").arg(channel)).await?;
        while !is_push(&wire.read().await?, &PushKind::Subscribe) {}
        Ok(())
    }

    fn close(&mut self) {
        self.wire = None;
        self.channel = None;
    }
}

async fn next_message(wire: &mut Wire) -> Result<(), WireError> {
    while !is_push(&wire.read().await?, &PushKind::Message) {}
    Ok(())
}

fn is_push(value: &Value, wanted: &PushKind) -> bool {
    matches!(value, Value::Push { kind, .. } if kind == wanted)
}
