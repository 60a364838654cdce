//! The doors of a run, and what passes all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use futures_util::future::join_all;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use super::commands::{Caller, Rules};
use super::keys::Keys;
use super::leftovers::remove;
use super::passage::Passage;
use super::upstream::Upstream;
use crate::environment_error::EnvironmentError;

/// Time for which nobody is let in after that failed.
const ACCEPTS_AGAIN_AFTER: Duration = Duration::from_millis(20);
/// Time that the removal of keys may take on one server.
const LEAVES_WITHIN: Duration = Duration::from_secs(10);

/// A server, and the addresses at which it is found.
pub struct Door {
    /// The server.
    pub upstream: Upstream,
    /// Where clients find it.
    pub clients: SocketAddr,
    /// Where the harness finds it.
    pub harness: SocketAddr,
}

/// Open doors; they close when it is dropped, and so does whatever passes.
pub struct Gateway {
    shared: Arc<Shared>,
    upstreams: Vec<Arc<Upstream>>,
    /// One for each address; dropped, they let nobody in any more.
    _guards: JoinSet<()>,
    /// Every connection.
    passages: TaskTracker,
    /// Ends them.
    closing: CancellationToken,
    _closes: DropGuard,
}

/// State that all doors share.
pub struct Shared {
    /// Permissions of the run.
    pub rules: Rules,
    /// The keys that were named.
    pub keys: Keys,
    /// The connections of clients, by node and the server's id, and where they come from.
    connections: Mutex<BTreeMap<(String, String), IpAddr>>,
    /// The servers that may yet carry out what came over a connection that is closed.
    unsettled: Mutex<BTreeSet<String>>,
}

impl Shared {
    /// A server did not say in time that it has carried out what it was sent.
    pub fn note_unsettled(&self, node: &str) {
        self.unsettled().insert(node.to_owned());
    }

    fn unsettled(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.unsettled
            .lock()
            .expect("no holder of this lock panics")
    }

    /// The connections that are open.
    pub fn connections(&self) -> MutexGuard<'_, BTreeMap<(String, String), IpAddr>> {
        self.connections
            .lock()
            .expect("no holder of this lock panics")
    }
}

impl Gateway {
    /// Opens the doors, for what `rules` let pass.
    ///
    /// # Errors
    /// When an address is taken.
    pub async fn open(doors: Vec<Door>, rules: Rules) -> Result<Self, EnvironmentError> {
        let shared = Arc::new(Shared {
            rules,
            keys: Keys::default(),
            connections: Mutex::default(),
            unsettled: Mutex::default(),
        });
        let (passages, closing) = (TaskTracker::new(), CancellationToken::new());
        let mut guards = JoinSet::new();
        let mut upstreams = Vec::new();
        for door in doors {
            let upstream = Arc::new(door.upstream);
            for (address, caller) in [
                (door.clients, Caller::Client),
                (door.harness, Caller::Harness),
            ] {
                let listener = TcpListener::bind(address)
                    .await
                    .map_err(EnvironmentError::io("listen on", address.to_string()))?;
                let guard = Guard {
                    shared: Arc::clone(&shared),
                    upstream: Arc::clone(&upstream),
                    caller,
                    passages: passages.clone(),
                    closing: closing.clone(),
                };
                guards.spawn(guard.keep(listener));
            }
            upstreams.push(upstream);
        }
        Ok(Self {
            shared,
            upstreams,
            _guards: guards,
            passages,
            _closes: closing.clone().drop_guard(),
            closing,
        })
    }

    /// The servers behind the doors, in order.
    pub fn upstreams(&self) -> impl Iterator<Item = &Upstream> {
        self.upstreams.iter().map(|upstream| &**upstream)
    }

    /// The server called so.
    pub fn upstream(&self, node: &str) -> Option<&Upstream> {
        self.upstreams().find(|upstream| upstream.name == node)
    }

    /// Returns the prefix with which every key and channel begins.
    pub fn prefix(&self) -> &str {
        &self.shared.rules.prefix
    }

    /// The open connections of clients to a node, by the server's ids, and where they come from.
    pub fn connections_to(&self, node: &str) -> BTreeMap<String, IpAddr> {
        let all = self.shared.connections();
        let to_node = all.iter().filter(|((name, _), _)| name == node);
        to_node.map(|((_, id), from)| (id.clone(), *from)).collect()
    }

    /// Closes the doors, waits for what has passed to be carried out, and removes from each of the
    /// `masters` the keys that were named, and no other.
    ///
    /// # Errors
    /// In words, where keys may be left.
    pub async fn leave(&self, masters: &[String]) -> Result<(), String> {
        self.closing.cancel();
        self.passages.close();
        self.passages.wait().await;
        let unsettled = self.shared.unsettled().clone();
        let keys: Vec<Vec<u8>> = self.shared.keys.take().into_iter().collect();
        let masters = self.upstreams().filter(|up| masters.contains(&up.name));
        let tries = masters.map(|upstream| async {
            let removed = timeout(LEAVES_WITHIN, remove(upstream, "DEL", &keys)).await;
            let why = match removed {
                Ok(Ok(())) if unsettled.contains(&upstream.name) => {
                    "what it was sent before may have been carried out since".to_owned()
                }
                Ok(Ok(())) => return None,
                Ok(Err(error)) => error.to_string(),
                Err(_) => format!("no answer within {LEAVES_WITHIN:?}"),
            };
            let (name, address) = (&upstream.name, upstream.address());
            Some(format!("{name} ({address}): {why}"))
        });
        // One that is gone is no reason to leave anything on the others.
        let failed: Vec<String> = join_all(tries).await.into_iter().flatten().collect();
        if failed.is_empty() {
            return Ok(());
        }
        let prefix = self.prefix();
        Err(format!(
            "keys that begin with '{prefix}' may be left on {}; \
             'lockstorm clean --prefix {prefix} URL' shows and removes them",
            failed.join(", and on ")
        ))
    }
}

/// Caller that is expected at one address of a door.
struct Guard {
    shared: Arc<Shared>,
    upstream: Arc<Upstream>,
    caller: Caller,
    passages: TaskTracker,
    closing: CancellationToken,
}

impl Guard {
    /// Lets in who may enter, until the doors close.
    async fn keep(self, listener: TcpListener) {
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = self.closing.cancelled() => return,
            };
            let Ok((stream, from)) = accepted else {
                // The machine is out of descriptors, until somebody leaves.
                sleep(ACCEPTS_AGAIN_AFTER).await;
                continue;
            };
            let passage = Passage {
                shared: Arc::clone(&self.shared),
                upstream: Arc::clone(&self.upstream),
                caller: self.caller,
                from: from.ip(),
                closing: self.closing.clone(),
            };
            self.passages.spawn(passage.run(stream));
        }
    }
}
