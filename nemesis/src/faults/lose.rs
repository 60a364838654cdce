//! Packets are lost at random on the way from one place to another.
//!
//! Nothing is lost to who reads a connection: TCP sends again, after a fifth of a second at first
//! and ever later. So the link stutters as no delay does.

use lockstorm_scenarios as scenarios;

use super::links::{Pair, Rule};
use super::one_way::OneWay;
use super::table::Kind;
use crate::error::FaultError;
use crate::fault::{Ends, Fault};
use crate::network::{LinkGuard, Loss, Network};

impl Kind for scenarios::Lose {
    const ENDS: Ends = Ends::Healed;

    fn fault(self) -> Box<dyn Fault> {
        let loss = Loss {
            percent: self.percent,
        };
        OneWay::fault(self.from, self.to, loss)
    }
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
