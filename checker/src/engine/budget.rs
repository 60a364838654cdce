//! Bounds on the cost of a search, which gives up beyond them and says so.

use std::time::{Duration, Instant};

/// Configurations at one time: a frontier that is wider than that grows exponentially.
const CONFIGURATIONS_MAX: usize = 1_000_000;
/// Bytes of configurations at one time.
const BYTES_MAX: usize = 1 << 30;

/// The bounds of a search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    pub(crate) deadline: Option<Instant>,
    /// Steps in all. Equal input takes equally many, on any machine and however busy it is.
    pub(crate) steps_max: u64,
    pub(crate) configurations_max: usize,
    pub(crate) bytes_max: usize,
}

impl Budget {
    /// So much time from now on, and as much memory as is always allowed.
    pub(crate) fn of(time: Duration) -> Self {
        Self {
            // A time that no clock can tell is no bound.
            deadline: Instant::now().checked_add(time),
            steps_max: u64::MAX,
            configurations_max: CONFIGURATIONS_MAX,
            bytes_max: BYTES_MAX,
        }
    }

    /// So many steps, however long they take, and as much memory as is always allowed.
    pub(crate) const fn of_steps(steps: u64) -> Self {
        Self {
            deadline: None,
            steps_max: steps,
            configurations_max: CONFIGURATIONS_MAX,
            bytes_max: BYTES_MAX,
        }
    }

    /// Checks whether the time is up, or the steps are used up.
    ///
    /// # Errors
    /// When it is, or they are.
    pub(crate) fn check_time(&self, steps: u64) -> Result<(), Exhausted> {
        if steps > self.steps_max {
            return Err(Exhausted::Steps(self.steps_max));
        }
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(Exhausted::Time),
            Some(_) | None => Ok(()),
        }
    }

    /// Checks whether so many configurations, of so many bytes in all, are too many.
    ///
    /// # Errors
    /// When they are.
    pub(crate) fn check_size(&self, configurations: usize, bytes: usize) -> Result<(), Exhausted> {
        if configurations > self.configurations_max {
            Err(Exhausted::Configurations(self.configurations_max))
        } else if bytes > self.bytes_max {
            Err(Exhausted::Bytes(self.bytes_max))
        } else {
            Ok(())
        }
    }
}

/// Bound that was hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Exhausted {
    #[error("the time for the search is up; allow more with --budget")]
    Time,
    #[error("more than {0} steps were not enough")]
    Steps(u64),
    #[error("more than {0} configurations were possible at once")]
    Configurations(usize),
    #[error("the configurations took more than {} MB", .0 >> 20)]
    Bytes(usize),
}
