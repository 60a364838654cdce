//! Hears all that is published.

use lockstorm_harness::connection::Wire;
use redis::{PushKind, Value};
use tokio::time::timeout;

use super::keys::Keys;
use super::test_bed::{TestBed, text};
use crate::support::WITHIN;

/// Where the test itself publishes, to know that it has heard all that came before.
const MARK: &str = "mark";

/// A connection that hears every channel.
pub struct Ear(Wire);

impl Ear {
    /// Hears what is published from now on.
    pub async fn open(bed: &TestBed) -> Self {
        let dialer = bed.dialer("ear", 0);
        let address = bed.servers.nodes()[0].public;
        let mut wire = dialer.dial(address).await.expect("the server is up");
        for command in [["HELLO", "3"], ["PSUBSCRIBE", "*"]] {
            let mut packed = redis::Cmd::new();
            packed.arg(&command);
            wire.send(&packed).await.expect("the server is up");
        }
        Self(wire)
    }

    /// All messages since the last time, each with its channel.
    pub async fn heard(&mut self, bed: &TestBed, keys: &mut Keys) -> Vec<String> {
        bed.command(&["PUBLISH", MARK, MARK]).await;
        let mut messages = Vec::new();
        loop {
            let message = timeout(WITHIN, self.0.read()).await;
            let message = message.expect("the mark comes").expect("the server is up");
            let Value::Push { kind, data } = message else {
                panic!("only messages come: {message:?}");
            };
            let [_, channel, message] = &data[..] else {
                continue;
            };
            let (channel, message) = (text(channel), text(message));
            if channel == MARK {
                return messages;
            }
            if kind == PushKind::PMessage {
                messages.push(keys.neutral(&format!("{channel} {message}")));
            }
        }
    }
}
