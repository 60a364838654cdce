//! The switch: who is where, which links there are, and the listeners in front of the servers.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use lockstorm_scenarios::CutMode;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::connection::{self, Path};
use crate::link::Map;
use crate::messages::{Conversation, Messages};
use crate::network::{LinkGuard, Network, Slowness};

/// Connections carried at the same time; one more is reset at once. It only guards against a
/// caller that reconnects in a loop without ever closing what it has.
const CONNECTIONS_MAX: usize = 20_000;

/// Pause after a failed accept. The usual reason is a lack of file descriptors, which passes.
const ACCEPT_AGAIN_AFTER: Duration = Duration::from_millis(50);

/// A user-space TCP switch; the module docs tell how it works. Dropping it closes every listener
/// and ends every connection; [`Fabric::close`] also waits until that has happened.
pub struct Fabric {
    map: Arc<Map>,
    /// The messages of callers, where they are read.
    messages: Option<Arc<Messages>>,
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl Fabric {
    /// A switch with nobody on it.
    pub fn new() -> Self {
        Self {
            map: Arc::default(),
            messages: None,
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
        }
    }

    /// A switch with nobody on it, which tells one message from the next: those of clients can be
    /// held, lost and delayed one by one. Bytes that are no messages pass as ever.
    pub fn of_messages() -> Self {
        let mut fabric = Self::new();
        fabric.messages = Some(Arc::default());
        fabric
    }

    /// Puts a listener at `public` in front of the server at `private`, and introduces the
    /// public address as the one of `name`. A node with several ports is exposed once for each.
    ///
    /// # Errors
    /// When the public address cannot be listened on.
    pub async fn expose(
        &self,
        name: &str,
        public: SocketAddr,
        private: SocketAddr,
    ) -> io::Result<()> {
        let listener = TcpListener::bind(public).await?;
        self.introduce(name, public.ip());
        let door = Door {
            listener,
            name: name.to_owned(),
            private,
            map: Arc::clone(&self.map),
            messages: self.messages.clone(),
            stop: self.stop.clone(),
            tasks: self.tasks.clone(),
        };
        let stop = self.stop.clone();
        self.tasks
            .spawn(async move { stop.run_until_cancelled(door.answer()).await });
        Ok(())
    }

    /// Says whose address `ip` is: connections from there are `name`'s from now on. A caller
    /// that nobody introduced goes by its address.
    pub fn introduce(&self, name: &str, ip: IpAddr) {
        self.map.introduce(name, ip);
    }

    /// Closes every listener and connection, and waits until they are gone.
    pub async fn close(&self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

impl Default for Fabric {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Fabric {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl Network for Fabric {
    fn cut(&self, from: &str, to: &str, mode: CutMode) -> LinkGuard {
        self.map.link(from, to).cut(mode)
    }

    fn slow(&self, from: &str, to: &str, slowness: Slowness) -> LinkGuard {
        self.map.link(from, to).slow(slowness)
    }

    fn slowed(&self, from: &str, to: &str) -> u64 {
        self.map.link(from, to).slowed.get()
    }

    fn held_back(&self, from: &str, to: &str) -> u64 {
        self.map.link(from, to).held_back.get()
    }

    fn messages(&self) -> Option<&Arc<Messages>> {
        self.messages.as_ref()
    }
}

/// One public address and the server behind it.
struct Door {
    listener: TcpListener,
    name: String,
    private: SocketAddr,
    map: Arc<Map>,
    messages: Option<Arc<Messages>>,
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl Door {
    /// Accepts until the fabric ends.
    async fn answer(self) {
        loop {
            match self.listener.accept().await {
                Ok((caller, from)) => self.admit(caller, from.ip()),
                Err(_) => sleep(ACCEPT_AGAIN_AFTER).await,
            }
        }
    }

    fn admit(&self, caller: TcpStream, from: IpAddr) {
        if self.tasks.len() >= CONNECTIONS_MAX {
            connection::abort(&caller);
            return;
        }
        let path = self.path(from);
        let carried = connection::carry(caller, self.private, path);
        let stop = self.stop.clone();
        self.tasks
            .spawn(async move { stop.run_until_cancelled(carried).await });
    }

    /// The two links of a connection from `caller`, who goes by its address if nobody has
    /// introduced it.
    fn path(&self, caller: IpAddr) -> Path {
        let name = self.map.name_of(caller);
        let caller = name.unwrap_or_else(|| caller.to_string());
        let messages = self.messages.clone();
        Path {
            there: self.map.link(&caller, &self.name),
            back: self.map.link(&self.name, &caller),
            conversation: messages
                .map(|messages| Conversation::new(messages, caller, self.name.clone())),
        }
    }
}
