//! An operator deletes a lock's key.

use async_trait::async_trait;
use lockstorm_scenarios as scenarios;

use super::table::{Among, Kind};
use crate::deployment::Deployment;
use crate::error::FaultError;
use crate::fault::{Ends, Evidence, Fault, Sighting};
use crate::probe::{NOTHING_TO_UNDO, known_node, redis};

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
    /// Each node that was told, and whether DEL removed something there.
    told: Vec<(String, bool)>,
}

impl DeleteKey {
    fn new(spec: scenarios::DeleteKey) -> Self {
        Self {
            key: spec.key.clone(),
            spec,
            told: Vec::new(),
        }
    }

    /// Sends a command on the key.
    async fn tell(
        &self,
        on: &dyn Deployment,
        node: &str,
        command: &str,
    ) -> Result<String, FaultError> {
        let redis = redis(on, node, "delete a key of")?;
        redis.command(&[command, &self.key]).await
    }

    /// Says what EXISTS says by now, which is 1 where another client was quick to take the lock.
    async fn seen_on(&self, on: &dyn Deployment, node: &str) -> String {
        match self.tell(on, node, "EXISTS").await {
            Ok(exists) => format!("{node} (DEL said 1, EXISTS {exists})"),
            Err(error) => format!("{node} (DEL said 1; then: {error})"),
        }
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
            match self.tell(on, &node, "DEL").await {
                Ok(reply) => self.told.push((node, reply == "1")),
                Err(error) => refused = Some(error),
            }
        }
        match refused {
            Some(error) if self.told.is_empty() => Err(error),
            Some(_) | None => Ok(()),
        }
    }

    /// The server's own reply to DEL is the proof: under load the key may be back at once.
    async fn observe(&mut self, on: &dyn Deployment) -> Sighting {
        let mut seen = Vec::new();
        for (node, _) in self.told.iter().filter(|(_, removed)| *removed) {
            seen.push(self.seen_on(on, node).await);
        }
        if seen.is_empty() {
            Sighting::Never(format!(
                "no server has the key '{}'; the library may keep its lock under another",
                self.key
            ))
        } else {
            Sighting::seen(format!("removed on {}", seen.join(", ")))
        }
    }

    async fn heal(&mut self, _on: &dyn Deployment) -> Result<Evidence, FaultError> {
        Ok(NOTHING_TO_UNDO.into())
    }
}
