//! The switch: who is where, which links there are, and the listeners in front of the servers.

use std::collections::BTreeSet;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use lockstorm_scenarios::{CutMode, System};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::connection::{self, Path, Route};
use crate::link::{Map, Unanswered};
use crate::messages::{Conversation, Messages, Ports};
use crate::mutex::lock;
use crate::network::{LinkGuard, Network, Slowness};

/// Connections carried at the same time; one more is reset at once. It only guards against a
/// caller that reconnects in a loop without ever closing what it has.
const CONNECTIONS_MAX: usize = 20_000;

/// Pause after a failed accept. The usual reason is a lack of file descriptors, which passes.
const ACCEPT_AGAIN_AFTER: Duration = Duration::from_millis(50);

/// A client with a port of its own on every server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guest {
    /// Its name.
    pub name: String,
    /// Address that servers see it come from.
    pub from: IpAddr,
    /// Its port, of as many digits as the port that all use.
    pub port: u16,
}

/// A user-space TCP switch; the module docs tell how it works. Dropping it closes every listener
/// and ends every connection; [`Fabric::close`] also waits until that has happened.
pub struct Fabric {
    map: Arc<Map>,
    /// System of the servers behind it.
    system: System,
    /// Names of those servers.
    servers: Arc<Mutex<BTreeSet<String>>>,
    messages: Arc<Messages>,
    /// `true` if the messages of all clients are read.
    reads_messages: bool,
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl Fabric {
    /// A switch with nobody on it, for servers of this system.
    pub fn new(system: System) -> Self {
        Self {
            map: Arc::default(),
            system,
            servers: Arc::default(),
            messages: Arc::default(),
            reads_messages: false,
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
        }
    }

    /// A switch with nobody on it, which tells one message from the next: those of clients can be
    /// held, lost and delayed one by one. Bytes that are no messages pass as ever.
    pub fn of_messages(system: System) -> Self {
        let mut fabric = Self::new(system);
        fabric.reads_messages = true;
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
        self.introduce(name, public.ip());
        lock(&self.servers).insert(name.to_owned());
        self.open(public, name, private, None).await
    }

    /// Puts a listener for one client in front of the server `name`, at the address `public` but on
    /// the port of the client: whoever comes there is that client, wherever it connects from. What
    /// the server says of the port that all use is said of this one instead.
    ///
    /// # Errors
    /// When that port cannot be listened on.
    pub async fn admit(
        &self,
        guest: &Guest,
        name: &str,
        public: SocketAddr,
        private: SocketAddr,
    ) -> io::Result<()> {
        self.introduce(&guest.name, guest.from);
        let own = SocketAddr::new(public.ip(), guest.port);
        let guest = (guest.clone(), public.port());
        self.open(own, name, private, Some(guest)).await
    }

    async fn open(
        &self,
        at: SocketAddr,
        name: &str,
        private: SocketAddr,
        guest: Option<(Guest, u16)>,
    ) -> io::Result<()> {
        // Only servers of Redis tell clients where servers are.
        let translates = guest.is_some() && self.system == System::Redis;
        let reads_messages = self.reads_messages || translates;
        let door = Door {
            listener: TcpListener::bind(at).await?,
            name: name.to_owned(),
            private,
            guest,
            map: Arc::clone(&self.map),
            system: self.system,
            servers: Arc::clone(&self.servers),
            messages: reads_messages.then(|| Arc::clone(&self.messages)),
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

    fn last_reply(&self, client: &str) -> Option<(String, Instant)> {
        let servers = lock(&self.servers).clone();
        let replies: Result<Vec<_>, Unanswered> = servers
            .into_iter()
            .map(|server| {
                let last = self.map.link(&server, client).talks.last_reply()?;
                Ok(last.map(|last| (server, last)))
            })
            .collect();
        let known = replies.ok()?.into_iter().flatten();
        known.max_by_key(|(_, last)| *last)
    }

    fn messages(&self) -> Option<&Arc<Messages>> {
        self.reads_messages.then_some(&self.messages)
    }
}

/// One public address and the server behind it.
struct Door {
    listener: TcpListener,
    name: String,
    private: SocketAddr,
    /// The one client that comes here, if it is only one, and the port that all use.
    guest: Option<(Guest, u16)>,
    map: Arc<Map>,
    system: System,
    servers: Arc<Mutex<BTreeSet<String>>>,
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
        let guest = self.guest.as_ref();
        let from = guest.map_or(from, |(guest, _)| guest.from);
        let route = Route {
            from,
            to: self.private,
        };
        let carried = connection::carry(caller, route, self.path(from));
        let stop = self.stop.clone();
        self.tasks
            .spawn(async move { stop.run_until_cancelled(carried).await });
    }

    /// The two links of a connection from `caller`, who goes by its address if nobody has
    /// introduced it.
    fn path(&self, caller: IpAddr) -> Path {
        let name = self.map.name_of(caller);
        let caller = name.unwrap_or_else(|| caller.to_string());
        Path {
            there: self.map.link(&caller, &self.name),
            back: self.map.link(&self.name, &caller),
            conversation: self.conversation(caller),
        }
    }

    /// Messages of a client and the server; what servers say to each other is another matter.
    fn conversation(&self, caller: String) -> Option<Arc<Conversation>> {
        let messages = self.messages.clone()?;
        if lock(&self.servers).contains(&caller) {
            return None;
        }
        let ports = self.guest.as_ref().map(|(guest, of_all)| Ports {
            of_all: of_all.to_string(),
            own: guest.port.to_string(),
        });
        let ends = (caller, self.name.clone());
        let conversation = Conversation::new(self.system, messages, ends, ports)?;
        Some(Arc::new(conversation))
    }
}
