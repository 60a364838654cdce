//! Statements of the literature on locks that a hunt can hold them to.

use lockstorm_scenarios::{LockKind, Promise, TopologyKind};

/// A statement, and the number that follows from it.
pub struct Stated {
    pub lock: LockKind,
    pub topology: TopologyKind,
    pub promise: Promise,
    pub number: &'static str,
    /// The statement, and where it is made.
    pub says: &'static str,
}

/// In the order of the page.
pub const STATED: [Stated; 0] = [];
