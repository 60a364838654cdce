//! The fair lock: a queue in order of arrival, and a channel for each who waits.
//!
//! Who waits is presumed dead after a time by the *clients'* clocks, and loses its place. A release
//! after the lease has ended is answered as if all were well.

use std::collections::HashSet;
use std::time::Duration;

use lockstorm_scenarios as scenarios;
use redis::{Cmd, Value};
use tokio::time::Instant;

use super::instance::{Instance, LATCH_MS, PUBLISH, granted};
use super::names;
use super::reentrant::{keep_script, kept, released};
use crate::client::CallError;
use crate::clock::wall_ms;
use crate::locks::lock::{Ask, Grant, Lock, LockContext, Outcome, Released};

const TRY: &str = include_str!("scripts/fair_try.lua");
const LOCK: &str = include_str!("scripts/fair_lock.lua");
const LEAVE: &str = include_str!("scripts/fair_leave.lua");
const UNLOCK: &str = include_str!("scripts/fair_unlock.lua");

/// One client's side of the lock.
pub struct RedissonFair {
    instance: Instance,
    lease: Duration,
    /// After how long a waiter that names no time of its own is presumed dead.
    fair_wait: Duration,
    /// Keys in whose queue this client has a place.
    places: HashSet<String>,
    /// The last try took a place.
    queued: bool,
}

impl RedissonFair {
    /// Holds nothing yet.
    pub fn new(spec: &scenarios::Fair, context: LockContext) -> Self {
        Self {
            instance: Instance::new(scenarios::Sync::Off, Duration::ZERO, context),
            lease: spec.time_to_live().0,
            fair_wait: spec.fair_wait.0,
            places: HashSet::new(),
            queued: false,
        }
    }

    fn lease_ms(&self) -> u64 {
        self.lease.as_millis() as u64
    }

    fn wait_ms(&self) -> u64 {
        self.fair_wait.as_millis() as u64
    }

    fn acquire_script(&self, key: &str, ask: Ask) -> Cmd {
        let mut command = redis::cmd("EVAL");
        let script = if ask.wait.is_some() { LOCK } else { TRY };
        command
            .arg(script)
            .arg(3)
            .arg(key)
            .arg(names::queue(key))
            .arg(names::queue_timeouts(key))
            .arg(self.lease_ms())
            .arg(self.instance.holder());
        if ask.wait.is_some() {
            command.arg(self.wait_ms()).arg(wall_ms());
        } else {
            command.arg(wall_ms()).arg(self.wait_ms());
        }
        command
    }

    async fn unlock(&mut self, key: &str) -> Result<Value, CallError> {
        let latch = names::latch(key, &self.instance.request());
        let mut command = redis::cmd("EVAL");
        command
            .arg(UNLOCK)
            .arg(5)
            .arg(key)
            .arg(names::queue(key))
            .arg(names::queue_timeouts(key))
            .arg(names::lock_channel(key))
            .arg(&latch)
            .arg("0")
            .arg(self.lease_ms())
            .arg(self.instance.holder())
            .arg(wall_ms())
            .arg(PUBLISH)
            .arg(LATCH_MS);
        self.instance.call_latched(&command, &latch).await
    }
}

impl Lock for RedissonFair {
    async fn acquire(&mut self, key: &str, ask: Ask) -> Outcome<Grant> {
        self.queued = false;
        let command = self.acquire_script(key, ask);
        match self.instance.call(&command).await {
            Ok(reply) => match granted(&reply) {
                Ok(()) => {
                    self.places.remove(key);
                    Outcome::Done(Grant::of(self.lease))
                }
                Err(ttl) => {
                    if ask.wait.is_some() {
                        self.instance.refused(ttl);
                        self.queued = self.places.insert(key.to_owned());
                    }
                    Outcome::Denied
                }
            },
            Err(error) => error.into(),
        }
    }

    async fn renew(&mut self, key: &str, _: Ask) -> Outcome<Grant> {
        let command = keep_script(key, self.lease, self.instance.holder());
        kept(self.instance.call(&command).await, self.lease)
    }

    async fn release(&mut self, key: &str, _: Ask) -> Outcome<Released> {
        released(self.unlock(key).await)
    }

    async fn await_turn(&mut self, key: &str, pause: Duration, deadline: Instant) {
        let channel = format!("{}:{}", names::lock_channel(key), self.instance.holder());
        self.instance.await_message(&channel, pause, deadline).await;
    }

    fn has_queue(&self) -> bool {
        true
    }

    fn queued(&mut self, _: &str) -> bool {
        std::mem::take(&mut self.queued)
    }

    async fn end_wait(&mut self, key: &str, granted: bool) {
        if self.places.remove(key) && !granted {
            let mut command = redis::cmd("EVAL");
            command
                .arg(LEAVE)
                .arg(2)
                .arg(names::queue(key))
                .arg(names::queue_timeouts(key))
                .arg(self.instance.holder())
                .arg(self.wait_ms());
            // A place that could not be given up ends by itself.
            let _ = self.instance.call(&command).await;
        }
        self.instance.end_wait().await;
    }
}
