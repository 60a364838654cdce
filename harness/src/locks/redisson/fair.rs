//! The fair lock: a queue in order of arrival, and a channel for each who waits.
//!
//! Who waits is presumed dead after a time by the *clients'* clocks, and loses its place. A release
//! after the lease has ended is answered as if all were well.

use std::collections::HashMap;
use std::time::Duration;

use lockstorm_checker::history::Name;
use lockstorm_scenarios as scenarios;
use lockstorm_scenarios::{DurationSpec, Era};
use redis::Cmd;
use tokio::time::Instant;

use super::instance::{Instance, LATCH_MS, Unlock, eval, granted};
use super::names;
use super::reentrant::released;
use super::withdrawal::Withdraws;
use crate::clock::wall_ms;
use crate::connection::CallError;
use crate::locks::batch_renewal::BatchRenewal;
use crate::locks::context::LockContext;
use crate::locks::lock::{Grant, Lock, LockRequest, Outcome, Released};
use crate::locks::provenance::Provenance;
use crate::locks::waiting::{WaitEnd, Waiting};

/// A script with the head that all of a fair lock share.
macro_rules! with_head {
    ($script:literal) => {
        concat!(include_str!("scripts/fair_head.lua"), include_str!($script))
    };
}

const TRY: &str = with_head!("scripts/fair_try.lua");
const LOCK: &str = with_head!("scripts/fair_lock.lua");
const LOCK_3_17: &str = with_head!("scripts/fair_lock_3_17.lua");
const LOCK_3_10: &str = with_head!("scripts/fair_lock_3_10.lua");
const UNLOCK: &str = with_head!("scripts/fair_unlock.lua");
const LEAVE: &str = include_str!("scripts/fair_leave.lua");
const LEAVE_3_10: &str = include_str!("scripts/fair_leave_3_10.lua");

/// One client's side of the lock.
pub struct RedissonFair {
    instance: Instance,
    lease: Duration,
    spec: scenarios::Fair,
    /// Keys in whose queue this client has a place, or may have one, each with after how many
    /// milliseconds it is presumed dead.
    places: HashMap<String, u64>,
    /// The last try took a place.
    queued: bool,
}

impl RedissonFair {
    /// Holds nothing yet.
    pub fn new(spec: &scenarios::Fair, context: LockContext) -> Self {
        Self {
            instance: Instance::new(spec.era, spec.synced(), spec.sync_timeout.0, context)
                .mutated(spec.mutant),
            lease: spec.time_to_live().0,
            spec: spec.clone(),
            places: HashMap::new(),
            queued: false,
        }
    }

    fn lease_ms(&self) -> u64 {
        self.lease.as_millis() as u64
    }

    /// After how long who waits like this is presumed dead.
    fn wait_ms(&self, ask: LockRequest) -> u64 {
        let wait = self.spec.presumed_dead_after(ask.wait.map(DurationSpec));
        wait.as_millis()
    }

    fn acquire_script(&self, key: &str, ask: LockRequest) -> Cmd {
        let script = match (ask.wait, self.instance.era()) {
            (None, _) => TRY,
            (Some(_), Era::V3_10) => LOCK_3_10,
            (Some(_), Era::V3_17) => LOCK_3_17,
            (Some(_), Era::V4_7) => LOCK,
        };
        let (queue, timeouts) = (names::queue(key), names::queue_timeouts(key));
        let mut command = eval(self.instance.script(script), &[key, &queue, &timeouts]);
        command.arg(self.lease_ms()).arg(self.instance.holder());
        if ask.wait.is_some() {
            command.arg(self.wait_ms(ask)).arg(wall_ms());
        } else {
            command.arg(wall_ms()).arg(self.turn_ms(ask));
        }
        command
    }

    /// How much earlier all that wait come when somebody is granted the lock at once.
    fn turn_ms(&self, ask: LockRequest) -> u64 {
        match self.instance.era() {
            Era::V3_10 => 0,
            Era::V3_17 | Era::V4_7 => self.wait_ms(ask),
        }
    }

    /// Remembers a place in the queue; `true` if there was none before.
    fn take_place(&mut self, key: &str, ask: LockRequest) -> bool {
        let wait_ms = self.wait_ms(ask);
        self.places.insert(key.to_owned(), wait_ms).is_none()
    }

    /// A new request to give `key` back.
    fn unlock(&mut self, key: &str) -> Unlock {
        let latch = self.instance.latch(key);
        let (queue, timeouts) = (names::queue(key), names::queue_timeouts(key));
        let channel = names::lock_channel(key);
        let mut keys = vec![key, &queue, &timeouts, &channel];
        keys.extend(latch.as_deref());
        let mut command = eval(self.instance.script(UNLOCK), &keys);
        command
            .arg("0")
            .arg(self.lease_ms())
            .arg(self.instance.holder())
            .arg(wall_ms())
            .arg(self.instance.publish())
            .arg(LATCH_MS);
        Unlock { command, latch }
    }

    fn leave_script(&self, key: &str, wait_ms: u64) -> Cmd {
        let script = match self.instance.era() {
            Era::V3_10 => LEAVE_3_10,
            Era::V3_17 | Era::V4_7 => LEAVE,
        };
        let mut command = eval(
            self.instance.script(script),
            &[&names::queue(key), &names::queue_timeouts(key)],
        );
        command.arg(self.instance.holder()).arg(wait_ms);
        command
    }
}

impl Lock for RedissonFair {
    async fn connect(&mut self) {
        self.instance.connect().await;
    }

    async fn acquire(&mut self, key: &str, ask: LockRequest) -> Outcome<Grant> {
        self.queued = false;
        let command = self.acquire_script(key, ask);
        match self.ask(&command, key, ask).await {
            Ok(reply) => match granted(&reply) {
                Ok(()) => {
                    self.places.remove(key);
                    Outcome::Done(Grant::of(self.lease))
                }
                Err(ttl) => {
                    if ask.wait.is_some() {
                        self.instance.refused(ttl);
                        self.queued = self.take_place(key, ask);
                    }
                    Outcome::Denied
                }
            },
            Err(error) => {
                // It may stand in the queue, where nobody else would take it out for a long time.
                if ask.wait.is_some() && matches!(error, CallError::Unknown(_)) {
                    self.take_place(key, ask);
                }
                error.into()
            }
        }
    }

    async fn renew(&mut self, key: &str, _: LockRequest) -> Outcome<Grant> {
        self.instance.keep(key, self.lease).await
    }

    async fn release(&mut self, key: &str, _: LockRequest) -> Outcome<Released> {
        let unlock = self.unlock(key);
        released(self.instance.unlock(&unlock).await)
    }
}

impl Withdraws for RedissonFair {
    fn instance(&mut self) -> &mut Instance {
        &mut self.instance
    }

    async fn withdraw(&mut self, key: &str, _: LockRequest) -> Result<(), CallError> {
        let unlock = self.unlock(key);
        self.instance.withdraw(&unlock).await
    }
}

impl BatchRenewal for RedissonFair {
    fn renewal_batch(&self) -> usize {
        self.instance.era().renewal_batch()
    }

    async fn renew_batch(&mut self, leases: &[(Name, LockRequest)]) -> Vec<Outcome<Grant>> {
        self.instance.keep_all(leases, self.lease).await
    }
}

impl Waiting for RedissonFair {
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

    /// Gives the place up, unless the wait was interrupted: Redisson's `tryLock` then only
    /// unsubscribes, and the place stays until its holder is presumed dead.
    async fn end_wait(&mut self, key: &str, end: WaitEnd) {
        if let Some(wait_ms) = self.places.remove(key)
            && end == WaitEnd::Refused
        {
            let command = self.leave_script(key, wait_ms);
            // A place that could not be given up ends by itself.
            let _ = self.instance.call(&command).await;
        }
        self.instance.end_wait(end).await;
    }
}

impl Provenance for RedissonFair {
    fn granted_by(&self) -> Vec<Name> {
        self.instance.asked().into_iter().collect()
    }

    fn marks(&self, _key: &str) -> Vec<String> {
        vec![self.instance.holder().to_owned()]
    }
}
