//! MySQL's `GET_LOCK`: a name that one connection holds. The server waits for it, and counts how
//! often it was taken.
//!
//! Source: `GET_LOCK` and `RELEASE_LOCK` in MariaDB's documentation.

use std::time::Duration;

use lockstorm_scenarios as scenarios;

use super::session_lock::{Dialect, SessionLock};
use crate::connection::{MysqlWire, mysql_literal};
use crate::locks::context::LockContext;

/// One client's side of the lock.
pub type MysqlGetLock = SessionLock<GetLock>;

/// Statements of MySQL.
pub struct GetLock;

impl Dialect for GetLock {
    type Wire = MysqlWire;

    const YES: &'static str = "1";
    const NO: &'static str = "0";
    const WAITS: bool = true;

    fn take(key: &str, wait: Duration) -> String {
        let (name, wait) = (mysql_literal(key), wait.as_secs_f64());
        format!("SELECT GET_LOCK({name}, {wait}), CONNECTION_ID()")
    }

    fn has(key: &str) -> String {
        let name = mysql_literal(key);
        format!("SELECT IS_USED_LOCK({name}) = CONNECTION_ID()")
    }

    fn give(key: &str) -> String {
        format!("SELECT RELEASE_LOCK({})", mysql_literal(key))
    }
}

impl MysqlGetLock {
    /// Holds nothing yet.
    pub fn new(spec: &scenarios::MysqlGetLock, context: LockContext) -> Self {
        let idle = spec.idle_timeout.map(|idle| idle.0.as_secs());
        let set = idle.map(|idle| format!("SET SESSION wait_timeout = {idle}"));
        Self::beginning_with(set, context)
    }
}
