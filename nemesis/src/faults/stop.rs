//! SIGTERM of a server: an operator's orderly end. It saves what its persistence is for, waits for
//! its replicas as long as it is set to, and goes. It comes back with what it had saved.

use lockstorm_scenarios as scenarios;

use super::kill::{End, How};
use super::table::Kind;
use crate::fault::{Ends, Fault};

impl Kind for scenarios::Stop {
    const ENDS: Ends = Ends::Healed;

    fn fault(self) -> Box<dyn Fault> {
        Box::new(End::new(self.node, How::InOrder))
    }
}
