//! A slow disk: each synchronisation of a server's files waits before it begins.
//!
//! A server synchronises only when it has written, so the effect shows with the next write.

use async_trait::async_trait;
use lockstorm_scenarios as scenarios;

use super::table::Kind;
use crate::deployment::Deployment;
use crate::error::FaultError;
use crate::fault::{Ends, Evidence, Fault, Sighting};
use crate::machines::Machines;
use crate::probe::live_processes;

impl Kind for scenarios::SlowFsync {
    const ENDS: Ends = Ends::Healed;

    fn fault(self) -> Box<dyn Fault> {
        Box::new(SlowFsync {
            spec: self,
            before: 0,
        })
    }
}

struct SlowFsync {
    spec: scenarios::SlowFsync,
    /// Number of synchronisations that had been slow before.
    before: u64,
}

impl SlowFsync {
    fn machines<'d>(&self, on: &'d dyn Deployment) -> Result<&'d dyn Machines, FaultError> {
        on.machines().ok_or_else(|| FaultError::NoShim {
            action: "slow the disk of",
            node: self.spec.node.clone(),
        })
    }

    fn slowed(&self, on: &dyn Deployment) -> Result<u64, FaultError> {
        Ok(self.machines(on)?.syncs_slowed(&self.spec.node)? - self.before)
    }
}

#[async_trait]
impl Fault for SlowFsync {
    async fn inject(&mut self, on: &dyn Deployment) -> Result<(), FaultError> {
        live_processes(on, &self.spec.node, "slow the disk of")?;
        self.before = self.slowed(on)?;
        self.machines(on)?
            .slow_syncs(&self.spec.node, self.spec.by.0)
    }

    async fn observe(&mut self, on: &dyn Deployment) -> Sighting {
        match self.slowed(on) {
            Ok(0) => Sighting::Later("nothing was synchronised".to_owned()),
            Ok(slowed) => Sighting::seen(format!(
                "synchronisations that had to wait for {}: {slowed}",
                self.spec.by
            )),
            Err(error) => Sighting::Never(error.to_string()),
        }
    }

    async fn heal(&mut self, on: &dyn Deployment) -> Result<Evidence, FaultError> {
        let slowed = self.slowed(on)?;
        let machines = self.machines(on)?;
        machines.slow_syncs(&self.spec.node, std::time::Duration::ZERO)?;
        Ok(format!("the disk is as fast as it is; slow synchronisations: {slowed}").into())
    }
}
