//! An operator deletes a lock's key.

use async_trait::async_trait;
use lockstorm_scenarios::{self as scenarios, System};

use super::table::{Among, Kind};
use crate::deployment::Deployment;
use crate::error::FaultError;
use crate::fault::{Ends, Evidence, Fault, Sighting};
use crate::probe::{NOTHING_TO_UNDO, known_node};
use crate::server::Server;

impl Kind for scenarios::DeleteKey {
    const ENDS: Ends = Ends::ByItself;
    const AMONG: Among = Among::Writable;

    fn fault(self) -> Box<dyn Fault> {
        Box::new(DeleteKey::new(self))
    }
}

struct DeleteKey {
    spec: scenarios::DeleteKey,
    /// The lock's key on the servers.
    key: String,
    /// Each node that was told, and how many entries it removed.
    told: Vec<(String, u64)>,
}

impl DeleteKey {
    fn new(spec: scenarios::DeleteKey) -> Self {
        Self {
            key: spec.key.clone(),
            spec,
            told: Vec::new(),
        }
    }

    /// Says that no server knows the key, and where else the lock may be.
    fn unknown(&self, on: &dyn Deployment) -> String {
        let told = self.told.first().and_then(|(node, _)| on.server(node).ok());
        match told.map(Server::system) {
            Some(System::Mariadb | System::Postgres) => format!(
                "no table of Lockstorm's own has the lock '{}', and none of a library's is known",
                self.key
            ),
            _ => format!(
                "no server has the key '{}'; the library may keep its lock under another",
                self.key
            ),
        }
    }

    /// Says whether the key is there by now: another client may have been quick to take the lock.
    async fn seen_on(&self, on: &dyn Deployment, node: &str, removed: u64) -> String {
        let there = async { on.server(node)?.has(&self.key).await };
        let since = match there.await {
            Ok(false) => "gone since".to_owned(),
            Ok(true) => "there again since".to_owned(),
            Err(error) => format!("then: {error}"),
        };
        let entries = if removed == 1 { "entry" } else { "entries" };
        format!("{node} ({removed} {entries}, {since})")
    }
}

#[async_trait]
impl Fault for DeleteKey {
    async fn inject(&mut self, on: &dyn Deployment) -> Result<(), FaultError> {
        self.key = on.server_key(&self.spec.key);
        let nodes = match &self.spec.node {
            Some(node) => {
                known_node(on, node)?;
                vec![node.clone()]
            }
            None => on.keepers(&self.key).await,
        };
        // Some of several masters may be down by another fault; the last error counts only if
        // none of them could be told.
        let mut refused = None;
        for node in nodes {
            let removed = async { on.server(&node)?.remove(&self.key).await };
            match removed.await {
                Ok(removed) => self.told.push((node, removed)),
                Err(error) => refused = Some(error),
            }
        }
        match refused {
            Some(error) if self.told.is_empty() => Err(error),
            Some(_) | None => Ok(()),
        }
    }

    /// The server's own count is the proof: under load the key may be back at once.
    async fn observe(&mut self, on: &dyn Deployment) -> Sighting {
        let mut seen = Vec::new();
        for (node, removed) in self.told.iter().filter(|(_, removed)| *removed > 0) {
            seen.push(self.seen_on(on, node, *removed).await);
        }
        if seen.is_empty() {
            Sighting::Never(self.unknown(on))
        } else {
            Sighting::seen(format!("removed on {}", seen.join(", ")))
        }
    }

    async fn heal(&mut self, _on: &dyn Deployment) -> Result<Evidence, FaultError> {
        Ok(NOTHING_TO_UNDO.into())
    }
}
