//! SIGSTOP of all processes of a server: it stands still and keeps its connections, as in a long
//! stall of the machine. What is sent to it meanwhile waits in its sockets and is executed on
//! SIGCONT.

use std::time::Duration;

use async_trait::async_trait;
use lockstorm_scenarios as scenarios;
use nix::errno::Errno;
use tokio::time::timeout;

use super::table::Kind;
use crate::deployment::Deployment;
use crate::error::FaultError;
use crate::fault::{Ends, Evidence, Fault, Sighting};
use crate::probe::{SHOWS_WITHIN, answers, comes_true, live_processes};
use crate::process::{Members, ProcessState, Processes};

impl Kind for scenarios::Pause {
    const ENDS: Ends = Ends::Healed;

    fn fault(self) -> Box<dyn Fault> {
        Box::new(Pause::new(self))
    }
}

/// A running server answers its greeting within milliseconds; this long without a reply, beside
/// the stopped processes, is silence.
const SILENCE: Duration = Duration::from_millis(100);

struct Pause {
    node: String,
    /// The processes that were stopped, by their first one and all of them.
    stopped: Option<(Processes, Members)>,
}

impl Pause {
    fn new(spec: scenarios::Pause) -> Self {
        Self {
            node: spec.node,
            stopped: None,
        }
    }

    fn cannot(&self, action: &'static str, signal: &str, error: Errno) -> FaultError {
        FaultError::Node {
            action,
            node: self.node.clone(),
            reason: format!("{signal}: {}", error.desc()),
        }
    }
}

#[async_trait]
impl Fault for Pause {
    async fn inject(&mut self, on: &dyn Deployment) -> Result<(), FaultError> {
        let processes = live_processes(on, &self.node, "pause")?;
        if processes.now().state() == ProcessState::Stopped {
            return Err(FaultError::Node {
                action: "pause",
                node: self.node.clone(),
                reason: "it is paused already".to_owned(),
            });
        }
        // Whether they have stopped shows when they are observed.
        let stopped = processes.stop(SHOWS_WITHIN).await;
        let stopped = stopped.map_err(|error| self.cannot("pause", "SIGSTOP", error))?;
        self.stopped = Some((processes, stopped));
        Ok(())
    }

    async fn observe(&mut self, on: &dyn Deployment) -> Sighting {
        let (_, stopped) = (self.stopped.as_ref()).expect("observed after it was injected");
        let (stopped, state) = (stopped.words(), stopped.state());
        if state != ProcessState::Stopped {
            return Sighting::NotYet(format!("{stopped} is {state:?}").to_lowercase());
        }
        let asked = match on.server(&self.node) {
            Ok(server) => server.greeting(),
            Err(error) => return Sighting::Never(error.to_string()),
        };
        match timeout(SILENCE, answers(on, &self.node)).await {
            Ok(true) => Sighting::NotYet(format!("it still answers {asked}")),
            Ok(false) | Err(_) => Sighting::seen(format!(
                "{stopped} is in state T (stopped) and {asked} gets no answer"
            )),
        }
    }

    async fn heal(&mut self, on: &dyn Deployment) -> Result<Evidence, FaultError> {
        // A process id may have been given to a stranger once its process was buried.
        if let Some(evidence) = self.overtaken(on) {
            return Ok(evidence);
        }
        let (_, stopped) = (self.stopped.as_ref()).expect("healed after it was injected");
        let resumed = stopped.resume();
        resumed.map_err(|error| self.cannot("resume", "SIGCONT", error))?;
        let asked = on.server(&self.node)?.greeting();
        if comes_true(|| answers(on, &self.node)).await {
            let resumed = stopped.words();
            Ok(format!("{resumed} runs again and answers {asked}").into())
        } else {
            Err(FaultError::Node {
                action: "resume",
                node: self.node.clone(),
                reason: format!("it does not answer {asked} after SIGCONT"),
            })
        }
    }

    fn overtaken(&self, on: &dyn Deployment) -> Option<Evidence> {
        let stopped = self.stopped.as_ref().map(|(stopped, _)| *stopped);
        (on.processes(&self.node) != stopped).then(|| "the paused process is gone".into())
    }
}
