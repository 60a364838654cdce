//! The semaphore: a number of free permits, and nothing else.
//!
//! Nobody knows who has a permit: one who dies takes it along forever, and one who gives back
//! twice makes one out of nothing.

use std::collections::HashSet;
use std::time::Duration;

use lockstorm_checker::history::Name;
use lockstorm_scenarios as scenarios;
use redis::Value;
use tokio::time::Instant;

use super::instance::Instance;
use super::names;
use crate::connection::CallError;
use crate::locks::batch_renewal::BatchRenewal;
use crate::locks::context::LockContext;
use crate::locks::lock::{Grant, Lock, LockRequest, Outcome, Released};
use crate::locks::provenance::Provenance;
use crate::locks::waiting::{WaitEnd, Waiting};

const ACQUIRE: &str = include_str!("scripts/semaphore_acquire.lua");
const RELEASE: &str = include_str!("scripts/semaphore_release.lua");
const SET_PERMITS: &str = include_str!("scripts/set_permits.lua");

/// One client's side of the semaphore.
pub struct RedissonSemaphore {
    instance: Instance,
    stock: Stock,
}

impl RedissonSemaphore {
    /// Holds nothing yet.
    pub fn new(spec: &scenarios::Semaphore, context: LockContext) -> Self {
        Self {
            instance: Instance::without_sync(context).mutated(spec.mutant),
            stock: Stock::new(spec.permits),
        }
    }
}

impl Lock for RedissonSemaphore {
    async fn acquire(&mut self, key: &str, ask: LockRequest) -> Outcome<Grant> {
        if let Err(error) = self.stock.set(&mut self.instance, key).await {
            return error.into();
        }
        let mut command = redis::cmd("EVAL");
        command
            .arg(self.instance.script(ACQUIRE))
            .arg(1)
            .arg(key)
            .arg(ask.permits);
        match self.instance.call(&command).await {
            Ok(Value::Int(1)) => Outcome::Done(Grant::default()),
            Ok(Value::Int(_)) => {
                self.instance.refused(-1);
                Outcome::Denied
            }
            Ok(odd) => Outcome::odd(&odd),
            Err(error) => error.into(),
        }
    }

    async fn renew(&mut self, _: &str, _: LockRequest) -> Outcome<Grant> {
        Outcome::Failed("permits of this semaphore never expire".to_owned())
    }

    async fn release(&mut self, key: &str, ask: LockRequest) -> Outcome<Released> {
        let mut command = redis::cmd("EVAL");
        command
            .arg(self.instance.script(RELEASE))
            .arg(2)
            .arg(key)
            .arg(names::semaphore_channel(key))
            .arg(ask.permits)
            .arg(self.instance.publish());
        match self.instance.call(&command).await {
            Ok(Value::Int(_)) => Outcome::Done(Released::default()),
            Ok(odd) => Outcome::odd(&odd),
            Err(error) => error.into(),
        }
    }
}

impl BatchRenewal for RedissonSemaphore {}

impl Waiting for RedissonSemaphore {
    async fn await_turn(&mut self, key: &str, pause: Duration, deadline: Instant) {
        let channel = names::semaphore_channel(key);
        self.instance.await_message(&channel, pause, deadline).await;
    }

    async fn end_wait(&mut self, _: &str, end: WaitEnd) {
        self.instance.end_wait(end).await;
    }
}

impl Provenance for RedissonSemaphore {
    fn granted_by(&self) -> Vec<Name> {
        self.instance.asked().into_iter().collect()
    }
}

/// Number of permits that a semaphore begins with: each client sets it once, and the first one
/// counts.
pub(super) struct Stock {
    permits: u32,
    set: HashSet<String>,
}

impl Stock {
    pub(super) fn new(permits: u32) -> Self {
        Self {
            permits,
            set: HashSet::new(),
        }
    }

    /// Sets the number of permits of `key`, unless this client did so before.
    pub(super) async fn set(
        &mut self,
        instance: &mut Instance,
        key: &str,
    ) -> Result<(), CallError> {
        if self.set.contains(key) {
            return Ok(());
        }
        let mut command = redis::cmd("EVAL");
        command
            .arg(instance.script(SET_PERMITS))
            .arg(2)
            .arg(key)
            .arg(names::semaphore_channel(key))
            .arg(self.permits)
            .arg(instance.publish());
        instance.call(&command).await?;
        self.set.insert(key.to_owned());
        Ok(())
    }
}
