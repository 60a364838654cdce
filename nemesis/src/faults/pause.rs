//! SIGSTOP of a server: it stands still and keeps its connections, as in a long stall of the
//! machine. What is sent to it meanwhile waits in its sockets and is executed on SIGCONT.

use std::time::Duration;

use async_trait::async_trait;
use lockstorm_scenarios as scenarios;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::time::timeout;

use super::table::Kind;
use crate::deployment::Deployment;
use crate::error::FaultError;
use crate::fault::{Ends, Evidence, Fault, Sighting};
use crate::probe::{SHOWS_WITHIN, answers, comes_true, live_pid};
use crate::process::{ProcessState, comes_to_be, process_state};

impl Kind for scenarios::Pause {
    const ENDS: Ends = Ends::Healed;

    fn fault(self) -> Box<dyn Fault> {
        Box::new(Pause::new(self))
    }
}

/// A running server answers PING in well under a millisecond; this long without a reply, beside
/// the stopped process, is silence.
const SILENCE: Duration = Duration::from_millis(100);

struct Pause {
    node: String,
    /// The process that was stopped.
    pid: Option<i32>,
}

impl Pause {
    fn new(spec: scenarios::Pause) -> Self {
        Self {
            node: spec.node,
            pid: None,
        }
    }

    fn signal(&self, pid: i32, signal: Signal, action: &'static str) -> Result<(), FaultError> {
        kill(Pid::from_raw(pid), signal).map_err(|error| FaultError::Node {
            action,
            node: self.node.clone(),
            reason: format!("{signal} of process {pid}: {}", error.desc()),
        })
    }
}

#[async_trait]
impl Fault for Pause {
    async fn inject(&mut self, on: &dyn Deployment) -> Result<(), FaultError> {
        let pid = live_pid(on, &self.node, "pause")?;
        if process_state(pid) == ProcessState::Stopped {
            return Err(FaultError::Node {
                action: "pause",
                node: self.node.clone(),
                reason: "it is paused already".to_owned(),
            });
        }
        self.pid = Some(pid);
        self.signal(pid, Signal::SIGSTOP, "pause")?;
        // Whether it has stopped shows when it is observed.
        comes_to_be(pid, ProcessState::Stopped, SHOWS_WITHIN).await;
        Ok(())
    }

    async fn observe(&mut self, on: &dyn Deployment) -> Sighting {
        let pid = self.pid.expect("observed after it was injected");
        let state = process_state(pid);
        if state != ProcessState::Stopped {
            return Sighting::NotYet(format!("process {pid} is {state:?}").to_lowercase());
        }
        match timeout(SILENCE, answers(on, &self.node)).await {
            Ok(true) => Sighting::NotYet("it still answers PING".to_owned()),
            Ok(false) | Err(_) => Sighting::seen(format!(
                "process {pid} is in state T (stopped) and PING gets no answer"
            )),
        }
    }

    async fn heal(&mut self, on: &dyn Deployment) -> Result<Evidence, FaultError> {
        // A process id may have been given to a stranger once its process was buried.
        if let Some(evidence) = self.overtaken(on) {
            return Ok(evidence);
        }
        let pid = self.pid.expect("healed after it was injected");
        self.signal(pid, Signal::SIGCONT, "resume")?;
        if comes_true(|| answers(on, &self.node)).await {
            Ok(format!("process {pid} runs again and answers PING").into())
        } else {
            Err(FaultError::Node {
                action: "resume",
                node: self.node.clone(),
                reason: "it does not answer PING after SIGCONT".to_owned(),
            })
        }
    }

    fn overtaken(&self, on: &dyn Deployment) -> Option<Evidence> {
        (on.pid(&self.node) != self.pid).then(|| "the paused process is gone".into())
    }
}
