//! An adapter of Lockstorm around the crate `rslock`: docs/adapter-protocol.md.
//!
//! The library is used as its documentation shows it, on redis-rs, both with their own defaults.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use lockstorm_adapter::{
    Acquired, Ask, Client, Error, Grant, Lock, Opened, Released, Server, locked_version, serve,
};
use rslock::{LockError, LockManager};

/// Time that three tries may take, each with a command to lock and one to unlock, a second to
/// connect before and after each, and half a second for each reply.
const ANSWERS_WITHIN: Duration = Duration::from_secs(20);

/// One client, and the locks that it was granted, each with the end of its validity.
struct Rslock {
    manager: LockManager,
    is_quorum: bool,
    lease: Duration,
    locks: HashMap<String, (rslock::Lock, Instant)>,
}

impl Lock for Rslock {
    async fn open(client: Client) -> Result<Self, Error> {
        let Some(lease) = client.lease else {
            return Err(Error::unsupported("rslock has no lock that never expires"));
        };
        if matches!(client.topology.as_str(), "sentinel" | "cluster") {
            return Err(Error::unsupported(
                "this adapter looks for no primary by itself",
            ));
        }
        let (manager, locks) = (connect(&client.servers), HashMap::new());
        Ok(Self {
            manager,
            is_quorum: client.topology == "independent",
            lease,
            locks,
        })
    }

    fn opened(&self) -> Opened {
        Opened {
            promises: Vec::from_iter(self.is_quorum.then_some("survives-minority")),
            answers_within: Some(ANSWERS_WITHIN),
            ..Opened::default()
        }
    }

    async fn follow(&mut self, servers: Vec<Server>) -> Result<(), Error> {
        self.manager = connect(&servers);
        Ok(())
    }

    async fn acquire(&mut self, ask: &Ask) -> Result<Acquired, Error> {
        let begun = Instant::now();
        match self.manager.lock(ask.key.as_str(), self.lease).await {
            Ok(lock) => {
                let marks = vec![lock.val.clone().into()];
                let lease = Some(self.keep(ask, lock) - begun);
                Ok(Acquired::Granted(Grant {
                    lease,
                    marks,
                    ..Grant::default()
                }))
            }
            // Servers that refuse and servers that cannot be reached are the same to it.
            Err(LockError::Unavailable) => Ok(Acquired::RefusedUnknown),
            Err(error) => Err(error.into()),
        }
    }

    async fn renew(&mut self, ask: &Ask) -> Result<Option<Duration>, Error> {
        let begun = Instant::now();
        let (lock, valid_until) = self.locks.get(&ask.key).ok_or(Error::NotOwner)?;
        let is_over = *valid_until < begun;
        match self.manager.extend(lock, self.lease).await {
            Ok(lock) => Ok(Some(self.keep(ask, lock) - begun)),
            Err(LockError::Unavailable) if is_over => Err(Error::NotOwner),
            // The library gives the lock back after an extension that failed.
            Err(error) => Err(Error::lost(error)),
        }
    }

    async fn release(&mut self, ask: &Ask) -> Result<Released, Error> {
        let (lock, _) = self.locks.get(&ask.key).ok_or(Error::NotOwner)?;
        self.manager.unlock(lock).await;
        Ok(Released::OwnershipUnknown)
    }
}

impl Rslock {
    /// Keeps a lock, and returns until when it is valid.
    fn keep(&mut self, ask: &Ask, lock: rslock::Lock) -> Instant {
        let valid_until = Instant::now() + Duration::from_millis(lock.validity_time as u64);
        self.locks.insert(ask.key.clone(), (lock, valid_until));
        valid_until
    }
}

fn connect(servers: &[Server]) -> LockManager {
    LockManager::new(
        servers
            .iter()
            .map(|server| format!("redis://{}", server.address))
            .collect(),
    )
}

fn main() {
    serve::<Rslock>(
        "rslock",
        locked_version(include_str!("../Cargo.lock"), "rslock"),
    );
}
