//! A server dies and starts again, with or without its memory.

use async_trait::async_trait;
use lockstorm_scenarios::{self as scenarios, Memory};

use super::table::{Among, Kind};
use crate::deployment::Deployment;
use crate::error::FaultError;
use crate::fault::{Ends, Evidence, Fault, Sighting};
use crate::probe::{info, known_node};

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
    pid_before: Option<i32>,
    /// Redis' own id of the run before; `None` also when a paused server could not tell.
    run_before: Option<String>,
}

impl Restart {
    fn new(spec: scenarios::Restart) -> Self {
        Self {
            node: spec.node,
            memory: spec.memory,
            pid_before: None,
            run_before: None,
        }
    }

    /// Another process with another run id proves the restart.
    async fn look(&self, on: &dyn Deployment) -> Result<Sighting, FaultError> {
        let run = info(on, &self.node, "server", "run_id").await?;
        let pid = on.pid(&self.node);
        if pid.is_none() || pid == self.pid_before || Some(&run) == self.run_before.as_ref() {
            return Ok(Sighting::NotYet(format!("still answers as run {run}")));
        }
        match self.memory {
            Memory::Kept => Ok(Sighting::seen(format!("answers as another run, {run}"))),
            Memory::Lost => self.look_for_memory(on, &run).await,
        }
    }

    /// No key left from before proves the loss. Under load clients set new keys at once, so only
    /// keys that nothing has written since the start speak against it. A replica asks its
    /// primary for everything as soon as it runs: that it forgot shows in the run id alone.
    async fn look_for_memory(
        &self,
        on: &dyn Deployment,
        run: &str,
    ) -> Result<Sighting, FaultError> {
        if info(on, &self.node, "replication", "role").await? == "slave" {
            return Ok(Sighting::seen(format!(
                "answers as another run, {run}, and is filled again by its primary"
            )));
        }
        let keys = on.command(&self.node, &["DBSIZE"]).await?;
        if keys == "0" {
            return Ok(Sighting::seen(format!(
                "answers as another run, {run}, and DBSIZE is 0"
            )));
        }
        let written = info(on, &self.node, "persistence", "rdb_changes_since_last_save").await?;
        let aof = info(on, &self.node, "persistence", "aof_enabled").await?;
        // Redis counts the reading of an append-only file as writing: there only an empty
        // server proves the loss.
        let all_newer = matches!(
            (keys.parse::<u64>(), written.parse::<u64>()),
            (Ok(keys), Ok(written)) if keys <= written && aof == "0"
        );
        Ok(if all_newer {
            Sighting::seen(format!(
                "answers as another run, {run}; its keys ({keys}) were all written since"
            ))
        } else {
            Sighting::NotYet(format!("answers as another run, {run}, with {keys} keys"))
        })
    }
}

#[async_trait]
impl Fault for Restart {
    async fn inject(&mut self, on: &dyn Deployment) -> Result<(), FaultError> {
        known_node(on, &self.node)?;
        self.pid_before = on.pid(&self.node);
        if self.pid_before.is_some() {
            self.run_before = info(on, &self.node, "server", "run_id").await.ok();
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
