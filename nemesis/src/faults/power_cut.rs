//! The power of a server fails: it dies, what was not yet safe on its disk is lost, and it starts
//! again. SIGKILL alone loses nothing that was written, for the system keeps it.

use async_trait::async_trait;
use lockstorm_checker::history::DataLoss;
use lockstorm_scenarios::{self as scenarios, Memory};

use super::table::Kind;
use crate::deployment::Deployment;
use crate::error::FaultError;
use crate::fault::{Ends, Evidence, Fault, Sighting};
use crate::probe::live_processes;

impl Kind for scenarios::PowerCut {
    const ENDS: Ends = Ends::ByItself;

    fn fault(self) -> Box<dyn Fault> {
        Box::new(PowerCut {
            node: self.node,
            run_before: None,
            lost: 0,
        })
    }
}

struct PowerCut {
    node: String,
    /// The server's own mark of the run before; `None` when a paused one could not tell.
    run_before: Option<String>,
    /// Bytes of its files that were lost.
    lost: u64,
}

#[async_trait]
impl Fault for PowerCut {
    async fn inject(&mut self, on: &dyn Deployment) -> Result<(), FaultError> {
        let machines = on.machines().ok_or_else(|| FaultError::NoShim {
            action: "cut the power of",
            node: self.node.clone(),
        })?;
        live_processes(on, &self.node, "cut the power of")?;
        self.run_before = on.server(&self.node)?.run().await.ok();
        on.kill(&self.node).await?;
        let lost = machines.lose_unsynced(&self.node);
        // Whatever became of its files, the server is not left dead.
        on.start(&self.node, Memory::Kept).await?;
        self.lost = lost?;
        Ok(())
    }

    async fn observe(&mut self, on: &dyn Deployment) -> Sighting {
        let run = async { on.server(&self.node)?.run().await };
        match run.await {
            Ok(run) if Some(&run) != self.run_before.as_ref() => {
                let words = format!(
                    "restarted as run {run}; bytes of its files that were lost: {}",
                    self.lost
                );
                let lost = (self.lost > 0).then_some(DataLoss::Bytes(self.lost));
                Sighting::seen(Evidence::from(words).with_loss(lost))
            }
            Ok(run) => Sighting::NotYet(format!("still answers as run {run}")),
            Err(error) => Sighting::NotYet(error.to_string()),
        }
    }

    async fn heal(&mut self, _on: &dyn Deployment) -> Result<Evidence, FaultError> {
        Ok("it runs again".into())
    }
}
