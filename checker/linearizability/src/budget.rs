//! Bounds on the cost of a search, which gives up beyond them and says so.

/// Configurations at one time: a frontier that is wider than that grows exponentially.
const CONFIGURATIONS_MAX: usize = 1_000_000;
/// Bytes of configurations at one time.
const BYTES_MAX: usize = 1 << 30;

/// The bounds of a search.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Steps in all. Equal input takes equally many, on any machine and however busy it is.
    pub steps: u64,
    /// Configurations at one time.
    pub configurations: usize,
    /// Bytes of configurations at one time.
    pub bytes: usize,
}

impl Budget {
    /// Allows so many steps, however long they take, and as much memory as is always allowed.
    pub const fn of_steps(steps: u64) -> Self {
        Self {
            steps,
            configurations: CONFIGURATIONS_MAX,
            bytes: BYTES_MAX,
        }
    }

    /// Checks whether the steps are used up.
    ///
    /// # Errors
    /// When they are.
    pub fn check_steps(&self, steps: u64) -> Result<(), Exhausted> {
        if steps > self.steps {
            return Err(Exhausted::Steps(self.steps));
        }
        Ok(())
    }

    /// Checks whether so many configurations, of so many bytes in all, are too many.
    ///
    /// # Errors
    /// When they are.
    pub fn check_size(&self, configurations: usize, bytes: usize) -> Result<(), Exhausted> {
        if configurations > self.configurations {
            Err(Exhausted::Configurations(self.configurations))
        } else if bytes > self.bytes {
            Err(Exhausted::Bytes(self.bytes))
        } else {
            Ok(())
        }
    }
}

/// Bound that was hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Exhausted {
    /// This many steps were allowed.
    #[error("{0} steps were not enough")]
    Steps(u64),
    /// This many configurations were allowed.
    #[error("more than {0} configurations were possible at once")]
    Configurations(usize),
    /// This many bytes were allowed.
    #[error("the configurations took more than {} MB", .0 >> 20)]
    Bytes(usize),
}
