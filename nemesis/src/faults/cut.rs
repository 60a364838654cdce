//! Nothing passes from one place to another, while the way back stays open.

use async_trait::async_trait;
use lockstorm_scenarios::{self as scenarios, CutMode};

use super::links::{Links, Pair, Rule, pairs};
use super::table::Kind;
use crate::deployment::Deployment;
use crate::error::FaultError;
use crate::fault::{Ends, Evidence, Fault, Sighting};
use crate::network::{LinkGuard, Network};

impl Kind for scenarios::Cut {
    const ENDS: Ends = Ends::Healed;

    fn fault(self) -> Box<dyn Fault> {
        Box::new(Cut {
            links: Links::new(self.mode),
            spec: self,
        })
    }
}

struct Cut {
    spec: scenarios::Cut,
    links: Links<CutMode>,
}

impl Rule for CutMode {
    fn lay(&self, network: &dyn Network, (from, to): &Pair) -> Result<LinkGuard, FaultError> {
        Ok(network.cut(from, to, *self))
    }

    fn count(&self, network: &dyn Network, (from, to): &Pair) -> u64 {
        network.held_back(from, to)
    }

    fn unit(&self) -> &'static str {
        match self {
            Self::Stall => "bytes or connections held back",
            Self::Reset => "connections reset",
        }
    }
}

#[async_trait]
impl Fault for Cut {
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
