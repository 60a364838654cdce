//! The clocks and disks that servers live on, and the clocks of clients that are processes, as
//! faults see them.

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

/// Answers that a process was given by a clock that is wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Readings {
    /// How often it has looked at it.
    pub count: u64,
    /// How far ahead of the true time it was the last time, or (negative) behind, in nanoseconds.
    pub ahead_ns: i64,
}

/// Clocks and disks of the nodes, each by the node's name. They stay as they are when a server is
/// started again. A client that is a process has a clock as well, by the client's name.
pub trait Machines: Send + Sync {
    /// Puts the wall clock of a node or client wrong, or with `None` right again.
    ///
    /// # Errors
    /// When there is none of this name, or what kept it from happening.
    fn set_clock(&self, name: &str, clock: Option<Clock>) -> Result<(), FaultError>;

    /// Tells whether the wall clock of a node or client is right, as far as we set it.
    ///
    /// # Errors
    /// As [`Machines::set_clock`].
    fn clock_is_right(&self, name: &str) -> Result<bool, FaultError>;

    /// Returns what the process of a node or client has been told while its wall clock was wrong.
    ///
    /// # Errors
    /// As [`Machines::set_clock`].
    fn wrong_readings(&self, name: &str) -> Result<Readings, FaultError>;

    /// Lets each synchronisation of a file wait so long; not at all with zero.
    ///
    /// # Errors
    /// As [`Machines::set_clock`].
    fn slow_syncs(&self, node: &str, by: Duration) -> Result<(), FaultError>;

    /// Number of synchronisations that have had to wait so far.
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
