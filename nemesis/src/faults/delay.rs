//! Delay of all that passes from one place to another; the way back is as fast as ever.
//!
//! Replies to a client are on the link from the node to the client: a slow server is a delay of
//! both.

use lockstorm_scenarios as scenarios;

use super::links::{Pair, Rule};
use super::one_way::OneWay;
use super::table::Kind;
use crate::error::FaultError;
use crate::fault::{Ends, Fault};
use crate::network::{LinkGuard, Network, Slowness};

impl Kind for scenarios::Delay {
    const ENDS: Ends = Ends::Healed;

    fn fault(self) -> Box<dyn Fault> {
        let slowness = Slowness {
            delay: self.by.0,
            jitter: self.jitter.0,
            bytes_per_second: None,
        };
        OneWay::fault(self.from, self.to, slowness)
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
