//! So many bytes a second pass from one place to another, on each connection.

use std::num::NonZeroU64;

use lockstorm_scenarios as scenarios;

use super::one_way::OneWay;
use super::table::Kind;
use crate::fault::{Ends, Fault};
use crate::network::Slowness;

impl Kind for scenarios::Throttle {
    const ENDS: Ends = Ends::Healed;

    fn fault(self) -> Box<dyn Fault> {
        let slowness = Slowness {
            bytes_per_second: NonZeroU64::new(self.bytes_per_second.into()),
            ..Slowness::default()
        };
        OneWay::fault(self.from, self.to, slowness)
    }
}
