//! The clients of a run as the nemesis sees them.

use std::collections::BTreeMap;
use std::sync::{Arc, RwLock};

use lockstorm_nemesis::{ClientState, Clients, FaultError};

use super::gate::Gate;

/// Every client of the run by name, each with its gate.
#[derive(Debug, Default)]
pub struct Roster {
    gates: RwLock<BTreeMap<String, Arc<Gate>>>,
}

impl Roster {
    /// The gate of a client that comes into being now, or came before.
    pub fn enrol(&self, name: &str) -> Arc<Gate> {
        let mut gates = self.gates.write().expect("no holder of this lock panics");
        gates.entry(name.to_owned()).or_default().clone()
    }

    fn gate(&self, client: &str) -> Option<Arc<Gate>> {
        self.gates
            .read()
            .expect("no holder of this lock panics")
            .get(client)
            .cloned()
    }

    fn known(&self, client: &str) -> Result<Arc<Gate>, FaultError> {
        self.gate(client)
            .ok_or_else(|| FaultError::UnknownClient(client.to_owned()))
    }
}

impl Clients for Roster {
    fn names(&self) -> Vec<String> {
        self.gates
            .read()
            .expect("no holder of this lock panics")
            .keys()
            .cloned()
            .collect()
    }

    fn state(&self, client: &str) -> Option<ClientState> {
        self.gate(client).map(|gate| gate.state())
    }

    fn commands(&self, client: &str) -> Option<u64> {
        self.gate(client).map(|gate| gate.commands())
    }

    fn pause(&self, client: &str) -> Result<(), FaultError> {
        self.known(client).map(|gate| gate.pause())
    }

    fn resume(&self, client: &str) -> Result<(), FaultError> {
        self.known(client).map(|gate| gate.resume())
    }

    fn kill(&self, client: &str, after_commands: Option<u32>) -> Result<(), FaultError> {
        let gate = self.known(client)?;
        match after_commands {
            None | Some(0) => gate.kill(),
            Some(replies) => gate.doom(replies),
        }
        Ok(())
    }
}
