//! Another server takes over, as an operator asks for it: by one of three ways, which differ in
//! whom they ask. Nothing undoes it; another failover may lead back.

use async_trait::async_trait;
use lockstorm_scenarios as scenarios;

use super::table::{Among, Kind};
use crate::deployment::Deployment;
use crate::error::FaultError;
use crate::fault::{Ends, Evidence, Fault, Sighting};
use crate::probe::live;

impl Kind for scenarios::Failover {
    const ENDS: Ends = Ends::Never;
    const AMONG: Among = Among::LiveReplicas;

    fn fault(self) -> Box<dyn Fault> {
        Box::new(Failover {
            spec: self,
            led_before: Vec::new(),
        })
    }
}

struct Failover {
    spec: scenarios::Failover,
    /// Servers that took writes before.
    led_before: Vec<String>,
}

#[async_trait]
impl Fault for Failover {
    async fn inject(&mut self, on: &dyn Deployment) -> Result<(), FaultError> {
        live(on, &self.spec.node, "fail over to")?;
        self.led_before = on.writable().await;
        if self.led_before.contains(&self.spec.node) {
            return Err(FaultError::Node {
                action: "fail over to",
                node: self.spec.node.clone(),
                reason: "it takes writes already".to_owned(),
            });
        }
        on.failover(&self.spec.node, self.spec.mode).await
    }

    /// Looks at what the servers say together; what the new leader says of itself does not count.
    async fn observe(&mut self, on: &dyn Deployment) -> Sighting {
        let leaders = on.writable().await;
        if !leaders.contains(&self.spec.node) {
            return Sighting::NotYet(format!("writes go to {}", leaders.join(", ")));
        }
        let gone = self.led_before.iter().filter(|led| !leaders.contains(led));
        let gone: Vec<&str> = gone.map(String::as_str).collect();
        let rank = async { on.server(&self.spec.node)?.rank().await };
        match rank.await {
            Ok(rank) if rank.leads => {
                let gone = gone.join(", ");
                Sighting::seen(format!("takes writes in the place of {gone}"))
            }
            Ok(rank) => Sighting::NotYet(rank.words),
            Err(error) => Sighting::NotYet(error.to_string()),
        }
    }

    async fn heal(&mut self, _on: &dyn Deployment) -> Result<Evidence, FaultError> {
        Ok("goes on taking writes".into())
    }
}
