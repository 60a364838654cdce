//! The semaphore: a number of free permits, and nothing else.
//!
//! Nobody knows who has a permit: one who dies takes it along forever, and one who gives back
//! twice makes one out of nothing.

use std::collections::HashSet;
use std::time::Duration;

use lockstorm_checker::history::Name;
use lockstorm_scenarios as scenarios;
use redis::{Cmd, Value};
use tokio::time::Instant;

use super::instance::{Instance, eval};
use super::names;
use super::withdrawal::Withdraws;
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
            instance: Instance::newest(spec.sync_timeout.0, context).mutated(spec.mutant),
            stock: Stock::new(spec.permits),
        }
    }

    fn release_script(&self, key: &str, ask: LockRequest) -> Cmd {
        let keys = [key, &names::semaphore_channel(key)];
        let mut command = eval(self.instance.script(RELEASE), &keys);
        command.arg(ask.permits).arg(self.instance.publish());
        command
    }
}

impl Withdraws for RedissonSemaphore {
    fn instance(&mut self) -> &mut Instance {
        &mut self.instance
    }

    /// Gives the permits back without a look at whether they were taken at all, as Redisson does:
    /// after a refusal, to a client whose earlier writes are not acknowledged either, it makes new
    /// ones.
    /// Source: `RedissonSemaphore.tryAcquireAsync` and `CommandAsyncService.handleNoSync` of 4.7.0.
    async fn withdraw(&mut self, key: &str, ask: LockRequest) -> Result<(), CallError> {
        let command = self.release_script(key, ask);
        self.instance.call_synced(&command).await.map(|_| ())
    }
}

impl Lock for RedissonSemaphore {
    async fn connect(&mut self) {
        self.instance.connect().await;
    }

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
        let reply = match self.ask(&command, key, ask).await {
            Ok(reply) => reply,
            Err(error) => return error.into(),
        };
        match reply {
            Value::Int(1) => Outcome::Done(Grant::default()),
            Value::Int(_) => {
                self.instance.refused(-1);
                Outcome::Denied
            }
            odd => Outcome::odd(&odd),
        }
    }

    async fn renew(&mut self, _: &str, _: LockRequest) -> Outcome<Grant> {
        Outcome::Failed("permits of this semaphore never expire".to_owned())
    }

    async fn release(&mut self, key: &str, ask: LockRequest) -> Outcome<Released> {
        if let Err(error) = self.stock.set(&mut self.instance, key).await {
            return error.into();
        }
        let command = self.release_script(key, ask);
        let synced = self.instance.call_synced(&command).await;
        let reply = synced.and_then(|synced| synced.reply_or("given back all the same"));
        match reply {
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
        instance.call_until_synced(&command).await?;
        self.set.insert(key.to_owned());
        Ok(())
    }
}
