//! The read-write lock: a hash with a field for the mode and one for each holder.
//!
//! Each read hold has a key of its own, so that a reader that died does not end with the longest
//! lease of the others. A writer may read as well; a reader that wants to write is refused.

use std::time::Duration;

use lockstorm_checker::history::{Mode, Name};
use lockstorm_scenarios as scenarios;
use lockstorm_scenarios::Era;
use redis::Cmd;
use tokio::time::Instant;

use super::instance::{Instance, LATCH_MS, Unlock, eval, granted};
use super::names;
use super::reentrant::released;
use super::renewal::{keep_script, kept};
use super::withdrawal::Withdraws;
use crate::connection::CallError;
use crate::locks::batch_renewal::BatchRenewal;
use crate::locks::context::LockContext;
use crate::locks::lock::{Grant, Lock, LockRequest, Outcome, Released};
use crate::locks::provenance::Provenance;
use crate::locks::waiting::{WaitEnd, Waiting};

const READ_LOCK: &str = include_str!("scripts/read_lock.lua");
const READ_LOCK_3_10: &str = include_str!("scripts/read_lock_3_10.lua");
const READ_UNLOCK: &str = include_str!("scripts/read_unlock.lua");
const READ_RENEW: &str = include_str!("scripts/read_renew.lua");
const READ_RENEW_ALL: &str = include_str!("scripts/read_renew_all.lua");
const WRITE_LOCK: &str = include_str!("scripts/write_lock.lua");
const WRITE_UNLOCK: &str = include_str!("scripts/write_unlock.lua");

/// One client's side of the lock.
pub struct RedissonRw {
    instance: Instance,
    lease: Duration,
}

impl RedissonRw {
    /// Holds nothing yet.
    pub fn new(spec: &scenarios::Redisson, context: LockContext) -> Self {
        Self {
            instance: Instance::new(spec.era, spec.synced(), spec.sync_timeout.0, context)
                .mutated(spec.mutant),
            lease: spec.time_to_live().0,
        }
    }

    fn lease_ms(&self) -> u64 {
        self.lease.as_millis() as u64
    }

    fn writer(&self) -> String {
        format!("{}:write", self.instance.holder())
    }

    /// Returns the prefix of the keys of this client's read holds.
    fn holds(&self, key: &str) -> String {
        let holder = self.instance.holder();
        names::suffixed(key, &format!("{holder}:rwlock_timeout"))
    }

    fn lock_script(&self, key: &str, mode: Mode) -> Cmd {
        match mode {
            Mode::Read => {
                let script = match self.instance.era() {
                    Era::V3_10 => READ_LOCK_3_10,
                    Era::V3_17 | Era::V4_7 => READ_LOCK,
                };
                let mut command = eval(self.instance.script(script), &[key, &self.holds(key)]);
                command
                    .arg(self.lease_ms())
                    .arg(self.instance.holder())
                    .arg(self.writer());
                command
            }
            Mode::Write => {
                let mut command = eval(self.instance.script(WRITE_LOCK), &[key]);
                command.arg(self.lease_ms()).arg(self.writer());
                command
            }
        }
    }

    /// A new request to give `key` back.
    fn unlock(&mut self, key: &str, mode: Mode) -> Unlock {
        let latch = self.instance.latch(key);
        let channel = names::read_write_channel(key);
        let (holds, all_holds) = (self.holds(key), names::braced(key));
        let mut keys = match mode {
            Mode::Read => vec![key, &channel, &holds, &all_holds],
            Mode::Write => vec![key, &channel],
        };
        keys.extend(latch.as_deref());
        let mut command = match mode {
            Mode::Read => eval(self.instance.script(READ_UNLOCK), &keys),
            Mode::Write => eval(self.instance.script(WRITE_UNLOCK), &keys),
        };
        match mode {
            Mode::Read => command.arg("0").arg(self.instance.holder()),
            Mode::Write => command.arg("1").arg(self.lease_ms()).arg(self.writer()),
        };
        command.arg(self.instance.publish()).arg(LATCH_MS);
        Unlock { command, latch }
    }

    /// Keeps the read holds: the caller's, or everybody's in an era that knew no better.
    fn read_renew_script(&self, key: &str) -> Cmd {
        let mut command = match self.instance.era() {
            Era::V3_10 | Era::V3_17 => eval(
                self.instance.script(READ_RENEW_ALL),
                &[key, &names::braced(key)],
            ),
            Era::V4_7 => eval(self.instance.script(READ_RENEW), &[key, &self.holds(key)]),
        };
        command.arg(self.lease_ms()).arg(self.instance.holder());
        command
    }
}

impl Lock for RedissonRw {
    async fn connect(&mut self) {
        self.instance.connect().await;
    }

    async fn acquire(&mut self, key: &str, ask: LockRequest) -> Outcome<Grant> {
        let command = self.lock_script(key, ask.mode);
        let reply = match self.ask(&command, key, ask).await {
            Ok(reply) => reply,
            Err(error) => return error.into(),
        };
        match granted(&reply) {
            Ok(()) => Outcome::Done(Grant::of(self.lease)),
            Err(ttl) => {
                self.instance.refused(ttl);
                Outcome::Denied
            }
        }
    }

    async fn renew(&mut self, key: &str, ask: LockRequest) -> Outcome<Grant> {
        let command = match ask.mode {
            Mode::Write => keep_script(&self.instance, &[key], self.lease, &self.writer()),
            Mode::Read => self.read_renew_script(key),
        };
        kept(self.instance.call_of_watchdog(&command).await, self.lease)
    }

    async fn release(&mut self, key: &str, ask: LockRequest) -> Outcome<Released> {
        let unlock = self.unlock(key, ask.mode);
        released(self.instance.unlock(&unlock).await)
    }
}

impl Withdraws for RedissonRw {
    fn instance(&mut self) -> &mut Instance {
        &mut self.instance
    }

    async fn withdraw(&mut self, key: &str, ask: LockRequest) -> Result<(), CallError> {
        let unlock = self.unlock(key, ask.mode);
        self.instance.withdraw(&unlock).await
    }
}

impl BatchRenewal for RedissonRw {}

impl Waiting for RedissonRw {
    async fn await_turn(&mut self, key: &str, pause: Duration, deadline: Instant) {
        let channel = names::read_write_channel(key);
        self.instance.await_message(&channel, pause, deadline).await;
    }

    async fn end_wait(&mut self, _: &str, end: WaitEnd) {
        self.instance.end_wait(end).await;
    }
}

impl Provenance for RedissonRw {
    fn granted_by(&self) -> Vec<Name> {
        self.instance.asked().into_iter().collect()
    }

    fn marks(&self, _key: &str) -> Vec<String> {
        vec![self.instance.holder().to_owned()]
    }
}
