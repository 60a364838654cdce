//! Stops traffic from one place to another, while the way back stays open.

use lockstorm_scenarios::{self as scenarios, CutMode};

use super::links::{Pair, Rule};
use super::one_way::OneWay;
use super::table::Kind;
use crate::error::FaultError;
use crate::fault::{Ends, Fault};
use crate::network::{LinkGuard, Network};

impl Kind for scenarios::Cut {
    const ENDS: Ends = Ends::Healed;

    fn fault(self) -> Box<dyn Fault> {
        OneWay::fault(self.from, self.to, self.mode)
    }
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
            Self::Stall => "held back (bytes and connections)",
            Self::Reset => "connections reset",
        }
    }
}
