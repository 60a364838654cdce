//! Questions that the faults ask of a server, whatever system it is of.

use async_trait::async_trait;
use lockstorm_scenarios::System;

use super::redis::Redis;
use crate::error::FaultError;

/// One server, asked past any link that is cut. Each system answers in words of its own.
///
/// Every question fails with [`FaultError::Node`] when there is no answer within a named limit, or
/// one that makes no sense.
#[async_trait]
pub trait Server: Send + Sync {
    /// System that it is of.
    fn system(&self) -> System;

    /// Name of the question that any server answers that works: `PING`.
    fn greeting(&self) -> &'static str;

    /// Asks that question.
    async fn greet(&self) -> Result<(), FaultError>;

    /// The server's own mark of this run: another one after each start.
    async fn run(&self) -> Result<String, FaultError>;

    /// Place that the server takes itself to have.
    async fn rank(&self) -> Result<Rank, FaultError>;

    /// Wall clock of the server, in microseconds since 1970.
    async fn clock_us(&self) -> Result<i64, FaultError>;

    /// Number of entries that it keeps.
    async fn entries(&self) -> Result<u64, FaultError>;

    /// Tells whether it keeps an entry under `key`.
    async fn has(&self, key: &str) -> Result<bool, FaultError>;

    /// Tells whether no entry is left from before it was started last.
    async fn has_no_old_entry(&self) -> Result<bool, FaultError>;

    /// Tells whether it loses everything when it ends: it keeps no file, and nobody fills it
    /// again. One that does not say may keep something.
    async fn keeps_nothing(&self) -> bool;

    /// Removes what it keeps under `key`; the number of entries that were there.
    async fn remove(&self, key: &str) -> Result<u64, FaultError>;

    /// Has it take a write that changes nothing: the removal of the entry `key`, which is not
    /// there, is a write all the same.
    async fn write_nothing(&self, key: &str) -> Result<(), FaultError> {
        self.remove(key).await.map(|_| ())
    }

    /// Number of leases that it has ended since its start because their time was over; `None` where
    /// it counts none.
    async fn ended_leases(&self) -> Result<Option<u64>, FaultError> {
        Ok(None)
    }

    /// Makes it write to those that follow it, and touches no entry.
    async fn speak(&self) -> Result<(), FaultError>;

    /// The server as one of Redis, which takes commands that no other does; `None` for any other.
    fn redis(&self) -> Option<&dyn Redis>;
}

/// Place of a server among others, as it sees it itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rank {
    /// `true` if it takes writes.
    pub leads: bool,
    /// Number of the election that made it so, or the last that it knows of; 0 where there are
    /// none.
    pub term: u64,
    /// Where it says so: `INFO replication says role:master`.
    pub words: String,
}
