//! A lock that is lost, as the client itself was told.

use lockstorm_checker::Nanos;
use lockstorm_checker::history::{Mode, Name};

/// A lock that a client was told it has lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Name of the lock.
    pub key: Name,
    /// Mode in which it was held.
    pub mode: Mode,
    /// A time not after the client was told; `None` where the answer to a renewal has told it.
    pub noticed: Option<Nanos>,
}
