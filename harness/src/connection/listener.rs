//! A client's ear: hears what is published on one channel at a time.
//!
//! For: waking a client that waits for a lock. Not for: anything that a verdict rests on; a
//! message that is late or lost costs time, and no more. Clients that are threads of one program
//! share its connection and its subscriptions; any other has them for itself.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout};

use super::dialer::{CallError, Dialer};
use super::subscriptions::{Reach, Seat, Subscriptions, Wake};

/// Hears one channel at a time.
pub struct Listener {
    dialer: Dialer,
    subscriptions: Arc<Subscriptions>,
    reach: Reach,
    seat: Option<Seat>,
}

impl Listener {
    /// Hears nothing yet; of what it will hear, `reach` says how far it goes.
    pub const fn new(dialer: Dialer, subscriptions: Arc<Subscriptions>, reach: Reach) -> Self {
        Self {
            dialer,
            subscriptions,
            reach,
            seat: None,
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
        if let Some(seat) = &self.seat
            && seat.is_at(address, channel)
        {
            return Ok(false);
        }
        self.unsubscribe().await?;
        let seat = self
            .subscriptions
            .seat(
                &self.dialer,
                (address, self.reach),
                channel,
                self.deadline(),
            )
            .await;
        self.dialer.gate.pass().await?;
        self.seat = Some(seat?);
        Ok(true)
    }

    /// Waits to be woken, for no longer than `at_most`. A lost subscription, a wait that is over
    /// and the client's death end it just as well: whoever waited looks for itself.
    pub async fn message(&mut self, at_most: Duration) -> Option<Wake> {
        let seat = self.seat.as_ref()?;
        tokio::select! {
            biased;
            _ = self.dialer.gate.death() => None,
            woken = timeout(at_most, seat.wake()) => woken.ok().flatten(),
        }
    }

    /// Hears nothing any more.
    ///
    /// # Errors
    /// The client's death; anything else only closes the connection.
    pub async fn unsubscribe(&mut self) -> Result<(), CallError> {
        self.dialer.gate.pass().await?;
        if let Some(seat) = self.seat.take() {
            seat.leave(self.deadline()).await;
        }
        Ok(())
    }

    fn deadline(&self) -> Instant {
        Instant::now() + self.dialer.reply_timeout
    }
}
