//! A client's watchdog stalls, as when the thread that it runs in is kept from its work: renewals
//! fall due and are not sent, while the client goes on and knows nothing of it.
//!
//! The effect is a renewal that was due and did not come. A client that holds nothing, or a lock
//! that renews nothing, has none: the fault then stays without effect.

use async_trait::async_trait;
use lockstorm_scenarios as scenarios;

use super::table::Kind;
use crate::deployment::{ClientState, Deployment};
use crate::error::FaultError;
use crate::fault::{Ends, Evidence, Fault, Sighting};

impl Kind for scenarios::StallWatchdog {
    const ENDS: Ends = Ends::Healed;

    fn fault(self) -> Box<dyn Fault> {
        Box::new(StallWatchdog {
            client: self.client,
            before: 0,
        })
    }
}

struct StallWatchdog {
    client: String,
    /// Number of renewals that had not been sent before.
    before: u64,
}

impl StallWatchdog {
    /// How many renewals fell due since, and were not sent.
    fn missed(&self, on: &dyn Deployment) -> u64 {
        let missed = on.clients().renewals_missed(&self.client);
        missed.unwrap_or_default().saturating_sub(self.before)
    }

    fn cannot(&self, reason: &str) -> FaultError {
        FaultError::Client {
            action: "stall the watchdog of",
            client: self.client.clone(),
            reason: reason.to_owned(),
        }
    }
}

#[async_trait]
impl Fault for StallWatchdog {
    async fn inject(&mut self, on: &dyn Deployment) -> Result<(), FaultError> {
        let clients = on.clients();
        match clients.state(&self.client) {
            None => return Err(FaultError::no_client(&self.client)),
            Some(ClientState::Dead) => return Err(self.cannot("it is dead")),
            Some(ClientState::Running | ClientState::Paused | ClientState::DeathScheduled) => {}
        }
        if clients.watchdog_is_stalled(&self.client) == Some(true) {
            return Err(self.cannot("it is stalled already; end that first"));
        }
        self.before = self.missed(on);
        clients.stall_watchdog(&self.client, true)
    }

    async fn observe(&mut self, on: &dyn Deployment) -> Sighting {
        match self.missed(on) {
            0 => Sighting::Later("no renewal has been due".to_owned()),
            missed => Sighting::seen(format!(
                "renewals that were due and have not been sent: {missed}"
            )),
        }
    }

    async fn heal(&mut self, on: &dyn Deployment) -> Result<Evidence, FaultError> {
        on.clients().stall_watchdog(&self.client, false)?;
        let missed = self.missed(on);
        Ok(format!("the watchdog goes on; renewals that were not sent: {missed}").into())
    }
}
