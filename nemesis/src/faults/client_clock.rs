//! The wall clock of a client jumps, drifts or stands still. The client is a process, for a task
//! looks at the clock of the harness.
//!
//! Nobody can ask a client for the time, but each time that it is told is counted where it is told:
//! the effect is proved as soon as it has looked at its clock and was told wrong. A client that
//! never looks has nothing to do with the time, and the fault stays without effect.

use async_trait::async_trait;

use crate::deployment::{ClientState, Deployment};
use crate::error::FaultError;
use crate::fault::{Evidence, Fault, Sighting};
use crate::machines::{Clock, Machines, Readings};

/// One client's clock.
pub(super) struct ClientClock {
    client: String,
    wrong: Clock,
    /// How often it had been told wrong before.
    before: u64,
}

impl ClientClock {
    /// Is still right.
    pub(super) const fn new(client: String, wrong: Clock) -> Self {
        Self {
            client,
            wrong,
            before: 0,
        }
    }

    fn cannot(&self, reason: &str) -> FaultError {
        FaultError::Client {
            action: "set the clock of",
            client: self.client.clone(),
            reason: reason.to_owned(),
        }
    }

    fn machines<'d>(&self, on: &'d dyn Deployment) -> Result<&'d dyn Machines, FaultError> {
        let without = || self.cannot("this run has no hands on clocks");
        on.machines().ok_or_else(without)
    }

    fn readings(&self, on: &dyn Deployment) -> Result<Readings, FaultError> {
        let readings = self.machines(on)?.wrong_readings(&self.client)?;
        Ok(Readings {
            count: readings.count.saturating_sub(self.before),
            ..readings
        })
    }
}

/// Says what a client was told, in words.
fn told(readings: Readings) -> String {
    let times = if readings.count == 1 { "time" } else { "times" };
    let millis = readings.ahead_ns / 1_000_000;
    let off = match millis {
        0 => "less than a millisecond off".to_owned(),
        ahead @ 1.. => format!("{ahead} ms ahead"),
        behind => format!("{} ms behind", -behind),
    };
    format!(
        "it was told the time {} {times}, at last {off}",
        readings.count
    )
}

#[async_trait]
impl Fault for ClientClock {
    async fn inject(&mut self, on: &dyn Deployment) -> Result<(), FaultError> {
        match on.clients().state(&self.client) {
            None => return Err(FaultError::no_client(&self.client)),
            Some(ClientState::Dead) => return Err(self.cannot("it is dead")),
            Some(ClientState::Running | ClientState::Paused | ClientState::DeathScheduled) => {}
        }
        let machines = self.machines(on)?;
        if !machines.clock_is_right(&self.client)? {
            return Err(self.cannot("it is wrong already; end that first"));
        }
        self.before = self.readings(on)?.count;
        machines.set_clock(&self.client, Some(self.wrong))
    }

    async fn observe(&mut self, on: &dyn Deployment) -> Sighting {
        match self.readings(on) {
            Ok(Readings { count: 0, .. }) => {
                Sighting::Later("it has not looked at its clock".to_owned())
            }
            Ok(readings) => {
                Sighting::Seen(Evidence::from(told(readings)).with_offset(readings.ahead_ns))
            }
            Err(error) => Sighting::Never(error.to_string()),
        }
    }

    async fn heal(&mut self, on: &dyn Deployment) -> Result<Evidence, FaultError> {
        self.machines(on)?.set_clock(&self.client, None)?;
        let readings = self.readings(on)?;
        let words = format!("the clock is right again; {}", told(readings));
        Ok(Evidence::from(words).with_offset(readings.ahead_ns))
    }
}
