//! The clocks and disks of the servers, as the nemesis has hands on them.

use std::io;
use std::time::Duration;

use lockstorm_nemesis::{Clock, FaultError, Machines};

use super::deployment::Servers;
use super::node::Node;
use super::shim::Page;

impl Servers {
    /// Does something to the page of a node.
    fn on_page<T>(
        &self,
        node: &str,
        action: &'static str,
        act: impl FnOnce(&Node, &Page) -> io::Result<T>,
    ) -> Result<T, FaultError> {
        let known = self.node(node)?;
        let page = known.page.as_ref().ok_or_else(|| FaultError::NoShim {
            action,
            node: node.to_owned(),
        })?;
        act(known, page).map_err(|error| FaultError::Node {
            action,
            node: node.to_owned(),
            reason: error.to_string(),
        })
    }
}

impl Machines for Servers {
    fn set_clock(&self, node: &str, clock: Option<Clock>) -> Result<(), FaultError> {
        self.on_page(node, "set the clock of", |_, page| page.set_clock(clock))
    }

    fn clock_is_right(&self, node: &str) -> Result<bool, FaultError> {
        self.on_page(node, "read the clock of", |_, page| page.clock_is_right())
    }

    fn slow_syncs(&self, node: &str, by: Duration) -> Result<(), FaultError> {
        self.on_page(node, "slow the disk of", |_, page| page.slow_syncs(by))
    }

    fn syncs_slowed(&self, node: &str) -> Result<u64, FaultError> {
        self.on_page(node, "read the disk of", |_, page| page.syncs_slowed())
    }

    fn lose_unsynced(&self, node: &str) -> Result<u64, FaultError> {
        self.on_page(node, "cut the files of", |node, page| {
            if node.pid().is_some() {
                return Err(io::Error::other("its server still runs"));
            }
            page.lose_unsynced(&node.data())
        })
    }
}
