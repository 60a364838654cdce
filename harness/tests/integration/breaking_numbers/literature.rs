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
pub const STATED: [Stated; 6] = [
    Stated {
        lock: LockKind::Setnx,
        topology: TopologyKind::Single,
        promise: Promise::Obtainable,
        number: "1",
        says: "Origin articles: a client that dies between `SETNX` and `EXPIRE` leaves a \
               lock that nobody can have",
    },
    Stated {
        lock: LockKind::Setnx,
        topology: TopologyKind::Single,
        promise: Promise::OwnRelease,
        number: "1",
        says: "Redis documentation: a plain `DEL` can remove a lock that another client has by now",
    },
    Stated {
        lock: LockKind::Token,
        topology: TopologyKind::Single,
        promise: Promise::ValidOnReturn,
        number: "1",
        says: "Kleppmann, *How to do distributed locking*: a reply can be late without any bound",
    },
    Stated {
        lock: LockKind::Token,
        topology: TopologyKind::Sentinel,
        promise: Promise::SurvivesFailover,
        number: "1",
        says: "Redis documentation: the primary can die before its replica has the lock",
    },
    Stated {
        lock: LockKind::Redlock,
        topology: TopologyKind::Independent,
        promise: Promise::ValidOnReturn,
        number: "≥ 2",
        says: "Redis documentation: the time that the masters took comes off the validity",
    },
    Stated {
        lock: LockKind::Redlock,
        topology: TopologyKind::Independent,
        promise: Promise::SurvivesMinority,
        number: "≥ 2",
        says: "Redis documentation: a majority of the masters is enough",
    },
];
