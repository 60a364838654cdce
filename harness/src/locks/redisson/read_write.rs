//! The read-write lock: a hash with a field for the mode and one for each holder.
//!
//! Each read hold has a key of its own, so that a reader that died does not end with the longest
//! lease of the others. A writer may read as well; a reader that wants to write is refused.

use std::time::Duration;

use lockstorm_checker::history::Mode;
use lockstorm_scenarios as scenarios;
use redis::{Cmd, Value};
use tokio::time::Instant;

use super::instance::{Instance, LATCH_MS, PUBLISH, granted, too_few_replicas};
use super::names;
use super::reentrant::{keep_script, kept, released};
use crate::client::CallError;
use crate::locks::lock::{Ask, Grant, Lock, LockContext, Outcome, Released};

const READ_LOCK: &str = include_str!("scripts/read_lock.lua");
const READ_UNLOCK: &str = include_str!("scripts/read_unlock.lua");
const READ_RENEW: &str = include_str!("scripts/read_renew.lua");
const WRITE_LOCK: &str = include_str!("scripts/write_lock.lua");
const WRITE_UNLOCK: &str = include_str!("scripts/write_unlock.lua");

/// One client's side of the lock.
pub struct RedissonReadWrite {
    instance: Instance,
    lease: Duration,
}

impl RedissonReadWrite {
    /// Holds nothing yet.
    pub fn new(spec: &scenarios::Redisson, context: LockContext) -> Self {
        Self {
            instance: Instance::new(spec.sync, spec.sync_timeout.0, context),
            lease: spec.time_to_live().0,
        }
    }

    fn lease_ms(&self) -> u64 {
        self.lease.as_millis() as u64
    }

    fn writer(&self) -> String {
        format!("{}:write", self.instance.holder())
    }

    /// What the keys of this client's read holds begin with.
    fn holds(&self, key: &str) -> String {
        let holder = self.instance.holder();
        names::suffixed(key, &format!("{holder}:rwlock_timeout"))
    }

    fn lock_script(&self, key: &str, mode: Mode) -> Cmd {
        let mut command = redis::cmd("EVAL");
        match mode {
            Mode::Read => command
                .arg(READ_LOCK)
                .arg(2)
                .arg(key)
                .arg(self.holds(key))
                .arg(self.lease_ms())
                .arg(self.instance.holder())
                .arg(self.writer()),
            Mode::Write => command
                .arg(WRITE_LOCK)
                .arg(1)
                .arg(key)
                .arg(self.lease_ms())
                .arg(self.writer()),
        };
        command
    }

    async fn unlock(&mut self, key: &str, mode: Mode) -> Result<Value, CallError> {
        let latch = names::latch(key, &self.instance.request());
        let channel = names::read_write_channel(key);
        let mut command = redis::cmd("EVAL");
        match mode {
            Mode::Read => command
                .arg(READ_UNLOCK)
                .arg(5)
                .arg(key)
                .arg(channel)
                .arg(self.holds(key))
                .arg(names::braced(key))
                .arg(&latch)
                .arg("0")
                .arg(self.instance.holder()),
            Mode::Write => command
                .arg(WRITE_UNLOCK)
                .arg(3)
                .arg(key)
                .arg(channel)
                .arg(&latch)
                .arg("1")
                .arg(self.lease_ms())
                .arg(self.writer()),
        };
        command.arg(PUBLISH).arg(LATCH_MS);
        self.instance.call_latched(&command, &latch).await
    }
}

impl Lock for RedissonReadWrite {
    async fn acquire(&mut self, key: &str, ask: Ask) -> Outcome<Grant> {
        let command = self.lock_script(key, ask.mode);
        let synced = match self.instance.call_synced(&command).await {
            Ok(synced) => synced,
            Err(error) => return error.into(),
        };
        match granted(&synced.reply) {
            Ok(()) if synced.enough => Outcome::Done(Grant::of(self.lease)),
            Ok(()) => match self.unlock(key, ask.mode).await {
                Err(CallError::Killed) => Outcome::Killed,
                Ok(_) | Err(_) => too_few_replicas(),
            },
            Err(ttl) => {
                self.instance.refused(ttl);
                Outcome::Denied
            }
        }
    }

    async fn renew(&mut self, key: &str, ask: Ask) -> Outcome<Grant> {
        let command = match ask.mode {
            Mode::Write => keep_script(key, self.lease, &self.writer()),
            Mode::Read => {
                let mut command = redis::cmd("EVAL");
                command
                    .arg(READ_RENEW)
                    .arg(2)
                    .arg(key)
                    .arg(self.holds(key))
                    .arg(self.lease_ms())
                    .arg(self.instance.holder());
                command
            }
        };
        kept(self.instance.call(&command).await, self.lease)
    }

    async fn release(&mut self, key: &str, ask: Ask) -> Outcome<Released> {
        released(self.unlock(key, ask.mode).await)
    }

    async fn await_turn(&mut self, key: &str, pause: Duration, deadline: Instant) {
        let channel = names::read_write_channel(key);
        self.instance.await_message(&channel, pause, deadline).await;
    }

    async fn end_wait(&mut self, _: &str, _: bool) {
        self.instance.end_wait().await;
    }
}
