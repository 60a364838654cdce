//! The clocks and disks of the servers and the clocks of the clients, as the nemesis has hands on
//! them.

use std::io;
use std::time::Duration;

use lockstorm_nemesis::{Clock, Deployment as _, FaultError, Machines, Readings};

use super::deployment::Servers;
use super::node::Node;
use crate::process::Page;

impl Servers {
    /// Does something to the clock of a node or a client, who never have the same name.
    fn on_clock<T>(
        &self,
        name: &str,
        action: &'static str,
        act: impl FnOnce(&Page) -> io::Result<T>,
    ) -> Result<T, FaultError> {
        if self.clients().state(name).is_none() {
            return self.on_page(name, action, |_, page| act(page));
        }
        let cannot = |reason: String| FaultError::Client {
            action,
            client: name.to_owned(),
            reason,
        };
        let page = self.registry().page(name).ok_or_else(|| {
            cannot("it was started without the shim, or is no process".to_owned())
        })?;
        act(&page).map_err(|error| cannot(error.to_string()))
    }

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
    fn set_clock(&self, name: &str, clock: Option<Clock>) -> Result<(), FaultError> {
        self.on_clock(name, "set the clock of", |page| page.set_clock(clock))
    }

    fn clock_is_right(&self, name: &str) -> Result<bool, FaultError> {
        self.on_clock(name, "read the clock of", Page::clock_is_right)
    }

    fn wrong_readings(&self, name: &str) -> Result<Readings, FaultError> {
        self.on_clock(name, "read the clock of", Page::wrong_readings)
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
