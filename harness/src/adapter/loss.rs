//! Word of a library to its client that a lock is lost, or may be.

use lockstorm_checker::Nanos;
use lockstorm_checker::history::{Mode, Name};

/// Word that a client was told of a lock that it held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Name of the lock.
    pub key: Name,
    /// Mode in which it was held.
    pub mode: Mode,
    /// The word.
    pub told: Told,
    /// A time not after the client was told; `None` where the answer to a renewal has told it.
    pub noticed: Option<Nanos>,
}

/// Meaning of the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// The lock is lost.
    Lost,
    /// Nobody knows whether it is.
    Suspended,
    /// It was held while nobody knew.
    Resumed,
}
