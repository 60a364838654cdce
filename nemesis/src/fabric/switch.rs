//! The switch: who is where, which links there are, and the listeners in front of the servers.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lockstorm_scenarios::CutMode;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::connection::{self, Path};
use super::link::Link;
use crate::network::{LinkGuard, Network, Slowness};

/// Connections carried at the same time; one more is reset at once. It only guards against a
/// caller that reconnects in a loop without ever closing what it has.
const CONNECTIONS_MAX: usize = 20_000;

/// Pause after a failed accept. The usual reason is a lack of file descriptors, which passes.
const ACCEPT_AGAIN_AFTER: Duration = Duration::from_millis(50);

/// A user-space TCP switch; the module docs tell how it works. Dropping it closes every listener
/// and ends every connection; [`Fabric::close`] also waits until that has happened.
pub struct Fabric {
    switch: Arc<Switch>,
    stop: CancellationToken,
    tasks: TaskTracker,
}

/// Names of addresses and the links between names.
#[derive(Default)]
struct Switch {
    names: Mutex<HashMap<IpAddr, String>>,
    links: Mutex<HashMap<(String, String), Arc<Link>>>,
}

impl Fabric {
    /// A switch with nobody on it.
    pub fn new() -> Self {
        Self {
            switch: Arc::default(),
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
        }
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
            switch: Arc::clone(&self.switch),
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
        lock(&self.switch.names).insert(ip, name.to_owned());
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
        self.switch.link(from, to).cut(mode)
    }

    fn slow(&self, from: &str, to: &str, slowness: Slowness) -> LinkGuard {
        self.switch.link(from, to).slow(slowness)
    }

    fn slowed(&self, from: &str, to: &str) -> u64 {
        self.switch.link(from, to).slowed()
    }

    fn held_back(&self, from: &str, to: &str) -> u64 {
        self.switch.link(from, to).held_back()
    }
}

impl Switch {
    /// The link from one name to another; it comes into being when first asked for.
    fn link(&self, from: &str, to: &str) -> Arc<Link> {
        let mut links = lock(&self.links);
        let ends = (from.to_owned(), to.to_owned());
        Arc::clone(links.entry(ends).or_default())
    }

    fn path(&self, caller: IpAddr, node: &str) -> Path {
        let name = lock(&self.names).get(&caller).cloned();
        let caller = name.unwrap_or_else(|| caller.to_string());
        Path {
            there: self.link(&caller, node),
            back: self.link(node, &caller),
        }
    }
}

/// One public address and the server behind it.
struct Door {
    listener: TcpListener,
    name: String,
    private: SocketAddr,
    switch: Arc<Switch>,
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
        let path = self.switch.path(from, &self.name);
        let carried = connection::carry(caller, self.private, path);
        let stop = self.stop.clone();
        self.tasks
            .spawn(async move { stop.run_until_cancelled(carried).await });
    }
}

/// The maps are whole after every statement that changes them, so a panic elsewhere while one
/// was locked does not make it wrong.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
