//! Hears from the sentinels that there is another primary.
//!
//! For: clients that subscribe to `+switch-master` at every sentinel, as Redisson's and Jedis's do.
//! Not for: anything that must not be missed; who hears nothing asks when its connection is lost.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use redis::{PushKind, Value};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::connection::Dialer;
use super::wire::{Wire, WireError};
use crate::server::Sentinels;

/// Where sentinels tell of it.
const CHANNEL: &str = "+switch-master";
/// Pause before a lost subscription is made anew.
const AGAIN_AFTER: Duration = Duration::from_secs(1);

/// What was heard last, and the subscriptions by which it was; dropping it ends them.
pub struct SwitchWatch {
    heard: Arc<Mutex<Option<Switch>>>,
    _subscriptions: JoinSet<()>,
}

/// A primary that took the place of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    /// Where it is.
    pub address: SocketAddr,
    /// Name of the sentinel that told it.
    pub by: String,
}

impl SwitchWatch {
    /// Subscribes at every sentinel.
    pub fn start(dialer: &Dialer, sentinels: &Sentinels) -> Self {
        let heard = Arc::default();
        let mut subscriptions = JoinSet::new();
        for (name, address) in &sentinels.sentinels {
            let ear = Ear {
                dialer: dialer.clone(),
                master: sentinels.master.clone(),
                name: name.clone(),
                address: *address,
                heard: Arc::clone(&heard),
            };
            subscriptions.spawn(ear.listen());
        }
        Self {
            heard,
            _subscriptions: subscriptions,
        }
    }

    /// What was heard since it was last asked for.
    pub fn take(&self) -> Option<Switch> {
        let mut heard = self.heard.lock().expect("no holder of this lock panics");
        heard.take()
    }
}

/// Listens to one sentinel.
struct Ear {
    dialer: Dialer,
    master: String,
    name: String,
    address: SocketAddr,
    heard: Arc<Mutex<Option<Switch>>>,
}

impl Ear {
    async fn listen(self) {
        loop {
            // Lost or never had: the client asks for itself meanwhile.
            let _ = self.subscribe().await;
            sleep(AGAIN_AFTER).await;
        }
    }

    async fn subscribe(&self) -> Result<(), WireError> {
        let mut wire = self.dialer.dial(self.address).await?;
        wire.send(redis::cmd("HELLO").arg(3)).await?;
        wire.write(redis::cmd("SUBSCRIBE").arg(CHANNEL)).await?;
        loop {
            if let Some(address) = self.next(&mut wire).await? {
                let by = self.name.clone();
                let mut heard = self.heard.lock().expect("no holder of this lock panics");
                *heard = Some(Switch { address, by });
            }
        }
    }

    async fn next(&self, wire: &mut Wire) -> Result<Option<SocketAddr>, WireError> {
        match wire.read().await? {
            Value::Push {
                kind: PushKind::Message,
                data,
            } => Ok(switched(&self.master, &data)),
            _ => Ok(None),
        }
    }
}

/// The new address in a message: name, old address and port, new address and port.
fn switched(master: &str, data: &[Value]) -> Option<SocketAddr> {
    let [_, Value::BulkString(message)] = data else {
        return None;
    };
    let message = std::str::from_utf8(message).ok()?;
    let words: Vec<&str> = message.split(' ').collect();
    match *words.as_slice() {
        [name, _, _, ip, port] if name == master => {
            Some(SocketAddr::new(ip.parse().ok()?, port.parse().ok()?))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_switch_of_another_primary_is_not_ours() {
        let heard = |message: &str| {
            let channel = Value::BulkString(CHANNEL.into());
            switched("mymaster", &[channel, Value::BulkString(message.into())])
        };
        let new = heard("mymaster 127.1.0.1 6379 127.1.0.2 6379");
        assert_eq!(new, "127.1.0.2:6379".parse().ok());
        assert_eq!(heard("other 127.1.0.1 6379 127.1.0.2 6379"), None);
        assert_eq!(heard("mymaster"), None);
    }
}
