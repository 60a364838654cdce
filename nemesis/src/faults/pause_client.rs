//! A client stands still: it sends nothing and sees no reply, as in a long pause of its process.
//! One that is a process gets SIGSTOP, and its state is seen; a task is held at its gate.

use async_trait::async_trait;
use lockstorm_scenarios as scenarios;

use super::table::Kind;
use crate::deployment::{ClientState, Deployment};
use crate::error::FaultError;
use crate::fault::{Ends, Evidence, Fault, Sighting};
use crate::process::{ProcessState, process_state};

impl Kind for scenarios::PauseClient {
    const ENDS: Ends = Ends::Healed;

    fn fault(self) -> Box<dyn Fault> {
        Box::new(PauseClient::new(self))
    }
}

struct PauseClient {
    client: String,
    /// The number of its commands at the last look.
    commands: Option<u64>,
}

impl PauseClient {
    fn new(spec: scenarios::PauseClient) -> Self {
        Self {
            client: spec.client,
            commands: None,
        }
    }

    fn state(&self, on: &dyn Deployment) -> Result<ClientState, FaultError> {
        on.clients()
            .state(&self.client)
            .ok_or_else(|| FaultError::no_client(&self.client))
    }
}

#[async_trait]
impl Fault for PauseClient {
    async fn inject(&mut self, on: &dyn Deployment) -> Result<(), FaultError> {
        let reason = match self.state(on)? {
            ClientState::Running | ClientState::DeathScheduled => {
                return on.clients().pause(&self.client);
            }
            ClientState::Paused => "it is paused already",
            ClientState::Dead => "it is dead",
        };
        Err(FaultError::Client {
            action: "pause",
            client: self.client.clone(),
            reason: reason.to_owned(),
        })
    }

    /// A process is stopped; a task is paused, and between two looks it has sent nothing.
    async fn observe(&mut self, on: &dyn Deployment) -> Sighting {
        let state = match self.state(on) {
            Ok(ClientState::Paused) => ClientState::Paused,
            Ok(state) => return Sighting::NotYet(format!("it is {state:?}").to_lowercase()),
            Err(error) => return Sighting::NotYet(error.to_string()),
        };
        if let Some(pid) = on.clients().process(&self.client) {
            return match process_state(pid) {
                ProcessState::Stopped => {
                    Sighting::seen(format!("process {pid} is in state T (stopped)"))
                }
                state @ (ProcessState::Alive | ProcessState::Gone) => {
                    Sighting::NotYet(format!("process {pid} is {state:?}").to_lowercase())
                }
            };
        }
        let before = self.commands;
        self.commands = on.clients().commands(&self.client);
        match self.commands {
            Some(commands) if before == Some(commands) => Sighting::seen(
                format!("{state:?}; commands sent so far: {commands}, and no more").to_lowercase(),
            ),
            Some(_) | None => Sighting::NotYet("it still sends commands".to_owned()),
        }
    }

    async fn heal(&mut self, on: &dyn Deployment) -> Result<Evidence, FaultError> {
        if let Some(evidence) = self.overtaken(on) {
            return Ok(evidence);
        }
        on.clients().resume(&self.client)?;
        Ok("it goes on".into())
    }

    fn overtaken(&self, on: &dyn Deployment) -> Option<Evidence> {
        match self.state(on) {
            Ok(ClientState::Running | ClientState::DeathScheduled) => Some("it goes on".into()),
            Ok(ClientState::Dead) => Some("the paused client is dead".into()),
            Ok(ClientState::Paused) | Err(_) => None,
        }
    }
}
