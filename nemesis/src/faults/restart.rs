//! A server dies and starts again, with or without its memory.

use async_trait::async_trait;
use lockstorm_checker::history::DataLoss;
use lockstorm_scenarios::{self as scenarios, Memory};

use super::table::{Among, Kind};
use crate::deployment::Deployment;
use crate::error::FaultError;
use crate::fault::{Ends, Evidence, Fault, Sighting};
use crate::probe::{entries, known_node};
use crate::process::Processes;

impl Kind for scenarios::Restart {
    const ENDS: Ends = Ends::ByItself;
    const AMONG: Among = Among::All;

    fn fault(self) -> Box<dyn Fault> {
        Box::new(Restart::new(self))
    }
}

struct Restart {
    node: String,
    memory: Memory,
    /// Its process before; `None` when the server was dead already.
    before: Option<Processes>,
    /// The server's own mark of the run before; `None` also when a paused one could not tell.
    run_before: Option<String>,
    /// Number of keys that it had before, if it could tell.
    had: Option<u64>,
}

impl Restart {
    fn new(spec: scenarios::Restart) -> Self {
        Self {
            node: spec.node,
            memory: spec.memory,
            before: None,
            run_before: None,
            had: None,
        }
    }

    /// Another process with another mark of its run proves the restart.
    async fn look(&self, on: &dyn Deployment) -> Result<Sighting, FaultError> {
        let server = on.server(&self.node)?;
        let run = server.run().await?;
        let now = on.processes(&self.node);
        if now.is_none() || now == self.before || Some(&run) == self.run_before.as_ref() {
            return Ok(Sighting::NotYet(format!("still answers as run {run}")));
        }
        let had_keys = self.had != Some(0);
        let (told, lost) = match self.memory {
            Memory::Kept if had_keys && server.keeps_nothing().await => {
                ("; its persistence keeps nothing", Some(DataLoss::All))
            }
            Memory::Kept => ("", None),
            // That it forgot shows in the mark of its run alone.
            Memory::Lost if !had_keys => ("; it had no keys before", None),
            // It asks its primary for everything as soon as it runs.
            Memory::Lost if !server.rank().await?.leads => ("; its primary fills it again", None),
            Memory::Lost if server.has_no_old_entry().await? => (
                "; it lost its data: no key is left from before",
                Some(DataLoss::Disk),
            ),
            Memory::Lost => {
                let keys = server.entries().await?;
                let sighting = format!("runs again, as {run}, with {keys} keys");
                return Ok(Sighting::NotYet(sighting));
            }
        };
        let words = format!("restarted as run {run}{told}");
        Ok(Sighting::Seen(Evidence::from(words).with_loss(lost)))
    }
}

#[async_trait]
impl Fault for Restart {
    async fn inject(&mut self, on: &dyn Deployment) -> Result<(), FaultError> {
        known_node(on, &self.node)?;
        self.before = on.processes(&self.node);
        if self.before.is_some() {
            self.run_before = on.server(&self.node)?.run().await.ok();
            self.had = entries(on, &self.node).await;
            on.kill(&self.node).await?;
        }
        on.start(&self.node, self.memory).await
    }

    async fn observe(&mut self, on: &dyn Deployment) -> Sighting {
        match self.look(on).await {
            Ok(sighting) => sighting,
            Err(error) => Sighting::NotYet(error.to_string()),
        }
    }

    async fn heal(&mut self, _on: &dyn Deployment) -> Result<Evidence, FaultError> {
        Ok("it runs again".into())
    }
}
