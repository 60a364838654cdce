//! A replica becomes primary, and clients follow it. Nothing undoes a promotion.

use async_trait::async_trait;
use lockstorm_scenarios as scenarios;

use super::table::{Among, Kind};
use crate::deployment::Deployment;
use crate::error::FaultError;
use crate::fault::{Ends, Evidence, Fault, Sighting};
use crate::probe::live_processes;
use crate::server::Rank;

impl Kind for scenarios::Promote {
    const ENDS: Ends = Ends::Never;
    const AMONG: Among = Among::LiveReplicas;

    fn fault(self) -> Box<dyn Fault> {
        Box::new(Promote::new(self))
    }
}

struct Promote {
    node: String,
}

impl Promote {
    fn new(spec: scenarios::Promote) -> Self {
        Self { node: spec.node }
    }

    async fn rank(&self, on: &dyn Deployment) -> Result<Rank, FaultError> {
        on.server(&self.node)?.rank().await
    }
}

#[async_trait]
impl Fault for Promote {
    async fn inject(&mut self, on: &dyn Deployment) -> Result<(), FaultError> {
        live_processes(on, &self.node, "promote")?;
        if self.rank(on).await?.leads {
            return Err(FaultError::Node {
                action: "promote",
                node: self.node.clone(),
                reason: "it is no replica".to_owned(),
            });
        }
        on.promote(&self.node).await
    }

    async fn observe(&mut self, on: &dyn Deployment) -> Sighting {
        match self.rank(on).await {
            Ok(rank) if rank.leads => Sighting::seen(rank.words),
            Ok(rank) => Sighting::NotYet(rank.words),
            Err(error) => Sighting::NotYet(error.to_string()),
        }
    }

    async fn heal(&mut self, _on: &dyn Deployment) -> Result<Evidence, FaultError> {
        Ok("stays the primary".into())
    }
}
