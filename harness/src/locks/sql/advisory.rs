//! PostgreSQL's advisory lock of a session: a number that one connection holds. The server counts
//! how often it was taken.
//!
//! Source: "Advisory Locks" in PostgreSQL's documentation. The number is a hash of the name, as
//! applications take one. A sequence gives the fencing tokens: it goes on when a transaction is
//! rolled back, and a replica that is promoted begins beyond all that the primary gave.

use std::time::Duration;

use lockstorm_scenarios as scenarios;

use super::session_lock::{Dialect, SessionLock};
use crate::connection::PostgresWire;
use crate::locks::context::LockContext;

/// One client's side of the lock.
pub type PostgresAdvisory = SessionLock<Advisory>;

/// Statements of PostgreSQL.
pub struct Advisory;

/// Number of the lock of this name, by the hash of 64 bits that is called FNV-1a.
pub fn number_of_lock(key: &str) -> i64 {
    const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let hash = key.bytes().fold(BASIS, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(PRIME)
    });
    hash.cast_signed()
}

impl Dialect for Advisory {
    type Wire = PostgresWire;

    const YES: &'static str = "t";
    const NO: &'static str = "f";
    const WAITS: bool = false;

    fn take(key: &str, _wait: Duration) -> String {
        let number = number_of_lock(key);
        format!(
            "SELECT taken, pg_backend_pid(), CASE WHEN taken THEN nextval('lockstorm.fence') END \
             FROM pg_try_advisory_lock({number}) AS taken"
        )
    }

    fn has(key: &str) -> String {
        // Its number as pg_locks has it, in two halves.
        let number = number_of_lock(key).cast_unsigned();
        let (high, low) = (number >> 32, number & u64::from(u32::MAX));
        format!(
            "SELECT EXISTS (SELECT * FROM pg_locks WHERE locktype = 'advisory' AND granted \
             AND classid = {high} AND objid = {low} AND pid = pg_backend_pid())"
        )
    }

    fn give(key: &str) -> String {
        format!("SELECT pg_advisory_unlock({})", number_of_lock(key))
    }
}

impl PostgresAdvisory {
    /// Holds nothing yet.
    pub fn new(spec: &scenarios::PostgresAdvisory, context: LockContext) -> Self {
        let idle = spec.idle_timeout.map(scenarios::DurationSpec::as_millis);
        let set = idle.map(|idle| format!("SET idle_session_timeout = {idle}"));
        Self::beginning_with(set, context)
    }
}
