//! The thread of a client dies and gives nothing back, while its process lives: a watchdog that
//! looks after what the process holds, and not after who holds it, renews forever.
//!
//! The effect is a renewal that is sent after the death. Where nothing is held, or nothing renewed,
//! there is none: the fault then stays without effect.

use async_trait::async_trait;
use lockstorm_scenarios as scenarios;

use super::table::Kind;
use crate::deployment::{ClientState, Deployment};
use crate::error::FaultError;
use crate::fault::{Ends, Evidence, Fault, Sighting};

impl Kind for scenarios::KillThread {
    const ENDS: Ends = Ends::Never;

    fn fault(self) -> Box<dyn Fault> {
        Box::new(KillThread {
            client: self.client,
            before: 0,
        })
    }
}

struct KillThread {
    client: String,
    /// Number of renewals that had been sent before.
    before: u64,
}

impl KillThread {
    fn cannot(&self, reason: &str) -> FaultError {
        FaultError::Client {
            action: "kill the thread of",
            client: self.client.clone(),
            reason: reason.to_owned(),
        }
    }

    fn sent(&self, on: &dyn Deployment) -> u64 {
        let sent = on.clients().renewals_sent(&self.client);
        sent.unwrap_or_default().saturating_sub(self.before)
    }
}

#[async_trait]
impl Fault for KillThread {
    async fn inject(&mut self, on: &dyn Deployment) -> Result<(), FaultError> {
        let clients = on.clients();
        match clients.state(&self.client) {
            None => return Err(FaultError::no_client(&self.client)),
            Some(ClientState::Dead) => return Err(self.cannot("it is dead")),
            Some(ClientState::Running | ClientState::Paused | ClientState::DeathScheduled) => {}
        }
        if clients.thread_is_dead(&self.client) == Some(true) {
            return Err(self.cannot("it is dead already"));
        }
        clients.kill_thread(&self.client)?;
        // Counted only now: what was sent before proves nothing.
        self.before = self.sent(on);
        Ok(())
    }

    async fn observe(&mut self, on: &dyn Deployment) -> Sighting {
        if on.clients().thread_is_dead(&self.client) != Some(true) {
            return Sighting::NotYet("its thread lives".to_owned());
        }
        match self.sent(on) {
            0 => Sighting::Later("its thread is dead, and no renewal was sent since".to_owned()),
            sent => Sighting::seen(format!(
                "its thread is dead, and its watchdog lives; renewals sent since: {sent}"
            )),
        }
    }

    async fn heal(&mut self, _on: &dyn Deployment) -> Result<Evidence, FaultError> {
        Ok("stays dead".into())
    }
}
