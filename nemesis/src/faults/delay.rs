//! What passes from one place to another arrives later; the way back is as fast as ever.
//!
//! Replies to a client are on the link from the node to the client: a slow server is a delay of
//! both.

use async_trait::async_trait;
use lockstorm_scenarios as scenarios;

use super::links::{Links, Pair, Rule, pairs};
use super::table::Kind;
use crate::deployment::Deployment;
use crate::error::FaultError;
use crate::fault::{Ends, Evidence, Fault, Sighting};
use crate::network::{LinkGuard, Network, Slowness};

impl Kind for scenarios::Delay {
    const ENDS: Ends = Ends::Healed;

    fn fault(self) -> Box<dyn Fault> {
        let slowness = Slowness {
            delay: self.by.0,
            jitter: self.jitter.0,
            bytes_per_second: None,
        };
        Box::new(SlowLinks::new(self.from, self.to, slowness))
    }
}

/// Links that are slow, by a delay or by their rate.
pub(super) struct SlowLinks {
    from: String,
    to: String,
    links: Links<Slowness>,
}

impl SlowLinks {
    pub(super) fn new(from: String, to: String, slowness: Slowness) -> Self {
        let links = Links::new(slowness);
        Self { from, to, links }
    }
}

impl Rule for Slowness {
    fn lay(&self, network: &dyn Network, (from, to): &Pair) -> Result<LinkGuard, FaultError> {
        Ok(network.slow(from, to, *self))
    }

    fn count(&self, network: &dyn Network, (from, to): &Pair) -> u64 {
        network.slowed(from, to)
    }

    fn unit(&self) -> &'static str {
        "bytes made late"
    }
}

#[async_trait]
impl Fault for SlowLinks {
    async fn inject(&mut self, on: &dyn Deployment) -> Result<(), FaultError> {
        let pairs = pairs(on, &self.from, &self.to).await?;
        self.links.lay(on, pairs).await
    }

    async fn observe(&mut self, on: &dyn Deployment) -> Sighting {
        self.links.observe(on)
    }

    async fn heal(&mut self, on: &dyn Deployment) -> Result<Evidence, FaultError> {
        Ok(self.links.heal(on))
    }
}
