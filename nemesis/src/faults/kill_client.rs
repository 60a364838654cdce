//! A client dies, at once or between two of its commands, and leaves behind what it held.

use async_trait::async_trait;
use lockstorm_scenarios as scenarios;

use super::table::Kind;
use crate::deployment::{ClientState, Deployment};
use crate::error::FaultError;
use crate::fault::{Ends, Evidence, Fault, Sighting};
use crate::process::{ProcessState, process_state};

impl Kind for scenarios::KillClient {
    const ENDS: Ends = Ends::Never;

    fn fault(self) -> Box<dyn Fault> {
        Box::new(KillClient::new(self))
    }
}

struct KillClient {
    spec: scenarios::KillClient,
    /// Its process before the kill, if it is one.
    pid: Option<i32>,
}

impl KillClient {
    fn new(spec: scenarios::KillClient) -> Self {
        Self { spec, pid: None }
    }
}

#[async_trait]
impl Fault for KillClient {
    async fn inject(&mut self, on: &dyn Deployment) -> Result<(), FaultError> {
        let client = &self.spec.client;
        match on.clients().state(client) {
            None => Err(FaultError::no_client(client)),
            Some(ClientState::Dead) => Err(FaultError::Client {
                action: "kill",
                client: client.clone(),
                reason: "it is dead already".to_owned(),
            }),
            Some(ClientState::Running | ClientState::Paused | ClientState::DeathScheduled) => {
                self.pid = on.clients().process(client);
                on.clients().kill(client, self.spec.after_commands)
            }
        }
    }

    async fn observe(&mut self, on: &dyn Deployment) -> Sighting {
        let clients = on.clients();
        let commands = clients.commands(&self.spec.client).unwrap_or_default();
        match clients.state(&self.spec.client) {
            Some(ClientState::Dead) => match self.pid {
                Some(pid) if process_state(pid) != ProcessState::Gone => {
                    Sighting::NotYet(format!("process {pid} is still there"))
                }
                Some(pid) => Sighting::seen(format!("process {pid} is gone")),
                None => Sighting::seen(format!("dead; commands sent in all: {commands}")),
            },
            Some(ClientState::DeathScheduled) => {
                Sighting::Later(format!("due to die, and alive after {commands} commands"))
            }
            Some(state @ (ClientState::Running | ClientState::Paused)) => {
                Sighting::NotYet(format!("it is {state:?}").to_lowercase())
            }
            None => Sighting::NotYet("it does not exist".to_owned()),
        }
    }

    async fn heal(&mut self, _on: &dyn Deployment) -> Result<Evidence, FaultError> {
        Ok("stays dead".into())
    }
}
