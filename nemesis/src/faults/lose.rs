//! Packets are lost by lot on the way from one place to another.
//!
//! Nothing is lost to who reads a connection: TCP sends again, after a fifth of a second at first
//! and ever later. So the link stutters as no delay does.

use async_trait::async_trait;
use lockstorm_scenarios as scenarios;

use super::links::{Links, Pair, Rule, pairs};
use super::table::Kind;
use crate::deployment::Deployment;
use crate::error::FaultError;
use crate::fault::{Ends, Evidence, Fault, Sighting};
use crate::network::{LinkGuard, Loss, Network};

impl Kind for scenarios::Lose {
    const ENDS: Ends = Ends::Healed;

    fn fault(self) -> Box<dyn Fault> {
        let loss = Loss {
            percent: self.percent,
        };
        Box::new(Lose {
            links: Links::new(loss),
            spec: self,
        })
    }
}

struct Lose {
    spec: scenarios::Lose,
    links: Links<Loss>,
}

impl Rule for Loss {
    fn lay(&self, network: &dyn Network, (from, to): &Pair) -> Result<LinkGuard, FaultError> {
        let packets = network.packets();
        let packets = packets.ok_or(FaultError::NoPackets { action: "lose" })?;
        Ok(packets.lose(from, to, *self))
    }

    fn count(&self, network: &dyn Network, (from, to): &Pair) -> u64 {
        let packets = network.packets();
        packets.map_or(0, |packets| packets.lost(from, to))
    }

    fn unit(&self) -> &'static str {
        "packets lost"
    }
}

#[async_trait]
impl Fault for Lose {
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
