//! Packets stay behind by lot on the way from one place to another, and others overtake them.
//!
//! Nothing is out of order to who reads a connection: TCP puts it right, and may send again what
//! it takes for lost. It takes more than one packet under way to be overtaken.

use async_trait::async_trait;
use lockstorm_scenarios as scenarios;

use super::links::{Links, Pair, Rule, pairs};
use super::table::Kind;
use crate::deployment::Deployment;
use crate::error::FaultError;
use crate::fault::{Ends, Evidence, Fault, Sighting};
use crate::network::{LinkGuard, Network, Reordering};

impl Kind for scenarios::Reorder {
    const ENDS: Ends = Ends::Healed;

    fn fault(self) -> Box<dyn Fault> {
        let reordering = Reordering {
            percent: self.percent,
            by: self.by.0,
        };
        Box::new(Reorder {
            links: Links::new(reordering),
            spec: self,
        })
    }
}

struct Reorder {
    spec: scenarios::Reorder,
    links: Links<Reordering>,
}

impl Rule for Reordering {
    fn lay(&self, network: &dyn Network, (from, to): &Pair) -> Result<LinkGuard, FaultError> {
        let packets = network.packets();
        let packets = packets.ok_or(FaultError::NoPackets { action: "reorder" })?;
        Ok(packets.reorder(from, to, *self))
    }

    fn count(&self, network: &dyn Network, (from, to): &Pair) -> u64 {
        let packets = network.packets();
        packets.map_or(0, |packets| packets.overtaken(from, to))
    }

    fn unit(&self) -> &'static str {
        "packets overtaken"
    }
}

#[async_trait]
impl Fault for Reorder {
    async fn inject(&mut self, on: &dyn Deployment) -> Result<(), FaultError> {
        let pairs = pairs(on, &self.spec.from, &self.spec.to).await?;
        self.links.lay(on, pairs).await
    }

    async fn observe(&mut self, on: &dyn Deployment) -> Sighting {
        self.links.observe(on)
    }

    async fn heal(&mut self, on: &dyn Deployment) -> Result<Evidence, FaultError> {
        Ok(self.links.heal(on))
    }
}
