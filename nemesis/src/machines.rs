//! The clock and the disk that each node's server lives on, as faults see them.

use std::time::Duration;

use crate::error::FaultError;

/// How a clock is wrong, from the moment on at which it is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// It jumps so far, forward or (negative) back, in nanoseconds.
    pub jump_ns: i64,
    /// It then goes at this speed, in percent of the true one.
    pub speed_percent: u32,
}

/// Clocks and disks of the nodes, each by the node's name. They stay as they are when a server is
/// started anew.
pub trait Machines: Send + Sync {
    /// Puts a node's wall clock wrong, or with `None` right again.
    ///
    /// # Errors
    /// [`FaultError::UnknownNode`], or what kept it from happening.
    fn set_clock(&self, node: &str, clock: Option<Clock>) -> Result<(), FaultError>;

    /// Whether a node's wall clock is right, as far as we set it.
    ///
    /// # Errors
    /// As [`Machines::set_clock`].
    fn clock_is_right(&self, node: &str) -> Result<bool, FaultError>;

    /// Lets each synchronisation of a file wait so long; not at all with zero.
    ///
    /// # Errors
    /// As [`Machines::set_clock`].
    fn slow_syncs(&self, node: &str, by: Duration) -> Result<(), FaultError>;

    /// How many synchronisations have had to wait so far.
    ///
    /// # Errors
    /// As [`Machines::set_clock`].
    fn syncs_slowed(&self, node: &str) -> Result<u64, FaultError>;

    /// Takes from the files of a dead node what was not yet safe on its disk; gives how many bytes
    /// that were.
    ///
    /// # Errors
    /// As [`Machines::set_clock`], and when the node is not dead.
    fn lose_unsynced(&self, node: &str) -> Result<u64, FaultError>;
}
