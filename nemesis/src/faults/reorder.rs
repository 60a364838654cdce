//! Packets stay behind at random on the way from one place to another, and others overtake them.
//!
//! Nothing is out of order to who reads a connection: TCP puts it right, and may send again what
//! it takes for lost. It takes more than one packet under way to be overtaken.

use lockstorm_scenarios as scenarios;

use super::links::{Pair, Rule};
use super::one_way::OneWay;
use super::table::Kind;
use crate::error::FaultError;
use crate::fault::{Ends, Fault};
use crate::network::{LinkGuard, Network, Reordering};

impl Kind for scenarios::Reorder {
    const ENDS: Ends = Ends::Healed;

    fn fault(self) -> Box<dyn Fault> {
        let reordering = Reordering {
            percent: self.percent,
            by: self.by.0,
        };
        OneWay::fault(self.from, self.to, reordering)
    }
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
