//! A server runs a script that does not end, and refuses everything else: it answers BUSY.
//!
//! A refused command certainly had no effect, other than under `sleep`, where it waits. The script
//! writes nothing, so SCRIPT KILL can end it.

use std::time::Duration;

use async_trait::async_trait;
use lockstorm_scenarios as scenarios;
use tokio::time::timeout;

use super::table::{Among, Kind};
use crate::deployment::Deployment;
use crate::error::FaultError;
use crate::fault::{Ends, Evidence, Fault, Sighting};
use crate::probe::{answers, comes_true, live_processes, redis};
use crate::server::redis::Redis;

impl Kind for scenarios::BusyScript {
    const ENDS: Ends = Ends::Healed;
    const AMONG: Among = Among::LiveWithData;

    fn fault(self) -> Box<dyn Fault> {
        Box::new(BusyScript {
            node: self.node,
            patience: None,
        })
    }
}

const SCRIPT: &str = "while true do end";

/// Time for which the run waits for an answer to the script, which would be an error.
const SILENCE: Duration = Duration::from_millis(100);

/// Time for which a script may run before the others are told BUSY instead of being kept waiting,
/// in milliseconds: the name in all versions, and the shortest value. By default it is 5 s.
const PATIENCE: &str = "lua-time-limit";
const PATIENCE_MIN: &str = "1";

/// The word by which a server refuses.
const BUSY: &str = "BUSY";

struct BusyScript {
    node: String,
    /// The server's own patience with scripts.
    patience: Option<String>,
}

impl BusyScript {
    fn redis<'d>(&self, on: &'d dyn Deployment) -> Result<&'d dyn Redis, FaultError> {
        redis(on, &self.node, "keep busy")
    }

    /// Tells whether the server says that it is busy; `None` where it says nothing.
    async fn is_busy(&self, on: &dyn Deployment) -> Option<bool> {
        match timeout(SILENCE, self.redis(on).ok()?.command(&["PING"])).await {
            Ok(Ok(_)) => Some(false),
            Ok(Err(error)) => error.to_string().contains(BUSY).then_some(true),
            Err(_) => None,
        }
    }
}

async fn set_patience(redis: &dyn Redis, millis: &str) -> Result<(), FaultError> {
    let set = ["CONFIG", "SET", PATIENCE, millis];
    redis.command(&set).await.map(|_| ())
}

#[async_trait]
impl Fault for BusyScript {
    async fn inject(&mut self, on: &dyn Deployment) -> Result<(), FaultError> {
        live_processes(on, &self.node, "keep busy")?;
        let redis = self.redis(on)?;
        let reply = redis.command(&["CONFIG", "GET", PATIENCE]).await?;
        let patience = reply.lines().nth(1).ok_or_else(|| FaultError::Node {
            action: "read the configuration of",
            node: self.node.clone(),
            reason: format!("CONFIG GET {PATIENCE} was answered '{reply}'"),
        })?;
        self.patience = Some(patience.to_owned());
        set_patience(redis, PATIENCE_MIN).await?;
        // Without an answer it runs; an error says that it would not.
        let told = ["EVAL", SCRIPT, "0"];
        if let Ok(Err(error)) = timeout(SILENCE, redis.command(&told)).await {
            set_patience(redis, patience).await?;
            return Err(error);
        }
        Ok(())
    }

    async fn observe(&mut self, on: &dyn Deployment) -> Sighting {
        match self.is_busy(on).await {
            Some(true) => Sighting::seen("PING is answered BUSY: it runs a script".to_owned()),
            Some(false) => Sighting::NotYet("it answers PING".to_owned()),
            None => Sighting::NotYet("it does not answer PING, not even BUSY".to_owned()),
        }
    }

    async fn heal(&mut self, on: &dyn Deployment) -> Result<Evidence, FaultError> {
        if !on.lives(&self.node) {
            return Ok("the busy server is dead".into());
        }
        // There is none to end in a server that was started again.
        let redis = self.redis(on)?;
        let _ = redis.command(&["SCRIPT", "KILL"]).await;
        if !comes_true(|| answers(on, &self.node)).await {
            return Err(FaultError::Node {
                action: "end the script of",
                node: self.node.clone(),
                reason: "it does not answer PING after SCRIPT KILL".to_owned(),
            });
        }
        if let Some(patience) = &self.patience {
            set_patience(redis, patience).await?;
        }
        Ok("SCRIPT KILL has ended it; it answers PING".into())
    }
}
