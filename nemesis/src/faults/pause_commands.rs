//! A server puts off commands, as an operator asks it to before a failover or an upgrade. It
//! executes them afterwards, those of clients that have given up by then included.

use std::time::Duration;

use async_trait::async_trait;
use lockstorm_scenarios::{self as scenarios, PausedCommands};
use tokio::time::{Instant, sleep_until, timeout};

use super::table::Kind;
use crate::deployment::Deployment;
use crate::error::FaultError;
use crate::fault::{Ends, Evidence, Fault, Sighting};
use crate::probe::{answers, comes_true, live, redis};
use crate::server::redis::Redis;

impl Kind for scenarios::PauseCommands {
    const ENDS: Ends = Ends::Healed;

    fn fault(self) -> Box<dyn Fault> {
        Box::new(PauseCommands {
            spec: self,
            until: None,
        })
    }
}

/// Silence that is no chance.
const SILENCE: Duration = Duration::from_millis(100);

/// A message on this channel, which nobody hears, is put off as a write is, and touches no key.
const CHANNEL: &str = "lockstorm:paused";

struct PauseCommands {
    spec: scenarios::PauseCommands,
    /// Time at which the server goes on by itself.
    until: Option<Instant>,
}

impl PauseCommands {
    fn redis<'d>(&self, on: &'d dyn Deployment) -> Result<&'d dyn Redis, FaultError> {
        redis(on, &self.spec.node, "pause the commands of")
    }

    /// Tells whether the server answers what it was told to put off.
    async fn goes_on(&self, on: &dyn Deployment) -> bool {
        let node = &self.spec.node;
        match self.spec.which {
            PausedCommands::All => answers(on, node).await,
            PausedCommands::Writes => match self.redis(on) {
                Ok(redis) => redis.command(&["PUBLISH", CHANNEL, ""]).await.is_ok(),
                Err(_) => false,
            },
        }
    }
}

#[async_trait]
impl Fault for PauseCommands {
    async fn inject(&mut self, on: &dyn Deployment) -> Result<(), FaultError> {
        live(on, &self.spec.node, "pause the commands of")?;
        let length = self.spec.length.0;
        let length_ms = length.as_millis().max(1).to_string();
        let mode = match self.spec.which {
            PausedCommands::All => "ALL",
            PausedCommands::Writes => "WRITE",
        };
        let pause = ["CLIENT", "PAUSE", &length_ms, mode];
        self.redis(on)?.command(&pause).await?;
        // Counted from the answer: the server began before it.
        self.until = Some(Instant::now() + length);
        Ok(())
    }

    async fn observe(&mut self, on: &dyn Deployment) -> Sighting {
        let what = match self.spec.which {
            PausedCommands::All => "PING",
            PausedCommands::Writes => "PUBLISH, which is put off as a write is,",
        };
        match timeout(SILENCE, self.goes_on(on)).await {
            Err(_) => Sighting::seen(format!("CLIENT PAUSE said OK, and {what} gets no answer")),
            Ok(_) if self.until.is_none_or(|until| until <= Instant::now()) => {
                Sighting::Never("it was over before anybody could look".to_owned())
            }
            // It was to begin before its OK was sent.
            Ok(true) => Sighting::Never(format!("{what} is answered all the same")),
            Ok(false) => Sighting::NotYet(format!("{what} fails, other than by silence")),
        }
    }

    /// Where only writes wait it is ended; where everything does, the end waits as well.
    async fn heal(&mut self, on: &dyn Deployment) -> Result<Evidence, FaultError> {
        if !on.lives(&self.spec.node) {
            return Ok("the paused server is dead".into());
        }
        match (self.spec.which, self.until) {
            (PausedCommands::Writes, _) => {
                self.redis(on)?.command(&["CLIENT", "UNPAUSE"]).await?;
            }
            (PausedCommands::All, Some(until)) => sleep_until(until).await,
            (PausedCommands::All, None) => {}
        }
        if comes_true(|| self.goes_on(on)).await {
            return Ok("it executes what it had put off".into());
        }
        Err(FaultError::Node {
            action: "end the pause of",
            node: self.spec.node.clone(),
            reason: "it goes on putting off commands".to_owned(),
        })
    }
}
