//! A replica becomes primary, and clients follow it. Nothing undoes a promotion.

use async_trait::async_trait;
use lockstorm_scenarios as scenarios;

use super::table::{Among, Kind};
use crate::deployment::Deployment;
use crate::error::FaultError;
use crate::fault::{Ends, Evidence, Fault, Sighting};
use crate::probe::{info, live_pid};

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

    async fn role(&self, on: &dyn Deployment) -> Result<String, FaultError> {
        info(on, &self.node, "replication", "role").await
    }
}

#[async_trait]
impl Fault for Promote {
    async fn inject(&mut self, on: &dyn Deployment) -> Result<(), FaultError> {
        live_pid(on, &self.node, "promote")?;
        if self.role(on).await? == "master" {
            return Err(FaultError::Node {
                action: "promote",
                node: self.node.clone(),
                reason: "it is no replica".to_owned(),
            });
        }
        on.promote(&self.node).await
    }

    async fn observe(&mut self, on: &dyn Deployment) -> Sighting {
        match self.role(on).await {
            Ok(role) if role == "master" => Sighting::seen("INFO replication says role:master"),
            Ok(role) => Sighting::NotYet(format!("INFO replication says role:{role}")),
            Err(error) => Sighting::NotYet(error.to_string()),
        }
    }

    async fn heal(&mut self, _on: &dyn Deployment) -> Result<Evidence, FaultError> {
        Ok("stays the primary".into())
    }
}
