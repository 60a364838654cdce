//! `RLock` and its kin: a hash with one field for the holder, whose value counts its holds.
//!
//! The fenced lock takes a token from a counter in the same script; the spin lock tells nobody of a
//! release. Promises exclusion as long as the server remembers; with replicas, as long as the one
//! that is promoted has heard of the grant.

use std::time::Duration;

use lockstorm_checker::history::Name;
use lockstorm_scenarios as scenarios;
use redis::{Cmd, Value};
use tokio::time::{Instant, sleep_until};

use super::instance::{Instance, LATCH_MS, Unlock, eval, granted};
use super::names;
use crate::client::{CallError, Killed};
use crate::locks::lock::{Ask, Grant, Lock, LockContext, Outcome, Released};

const LOCK: &str = include_str!("scripts/lock.lua");
const LOCK_FENCED: &str = include_str!("scripts/lock_fenced.lua");
const UNLOCK: &str = include_str!("scripts/unlock.lua");
const UNLOCK_SPIN: &str = include_str!("scripts/unlock_spin.lua");

/// The first and the longest pause of a spinning client.
const SPIN: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(128));

/// How a waiting client learns of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waking {
    /// By a message.
    Told,
    /// By looking, at growing intervals.
    Spinning,
}

/// One client's side of the lock.
pub struct Redisson {
    instance: Instance,
    lease: Duration,
    waking: Waking,
    fenced: bool,
    /// The next pause of a spinning client.
    spin: Duration,
}

impl Redisson {
    /// Holds nothing yet.
    pub fn new(spec: &scenarios::Redisson, waking: Waking, context: LockContext) -> Self {
        Self {
            instance: Instance::new(spec.era, spec.synced(), spec.sync_timeout.0, context)
                .mutated(spec.mutant),
            lease: spec.time_to_live().0,
            waking,
            fenced: false,
            spin: SPIN.0,
        }
    }

    /// The same with a token for each grant.
    #[must_use]
    pub fn fenced(mut self) -> Self {
        self.fenced = true;
        self
    }

    /// Asks for another time to live from now on.
    pub(super) fn set_lease(&mut self, lease: Duration) {
        self.lease = lease;
    }

    /// Sets the time to live of the key without a look at its owner; the reply counts for nothing.
    pub(super) async fn expire(&mut self, key: &str, lease: Duration) -> Result<(), Killed> {
        let mut command = redis::cmd("PEXPIRE");
        command.arg(key).arg(lease.as_millis() as u64);
        match self.instance.call(&command).await {
            Err(CallError::Killed) => Err(Killed),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    fn lock_script(&self, key: &str) -> Cmd {
        let mut command = if self.fenced {
            eval(
                self.instance.script(LOCK_FENCED),
                &[key, &names::token_counter(key)],
            )
        } else {
            eval(self.instance.script(LOCK), &[key])
        };
        command.arg(self.lease_ms()).arg(self.instance.holder());
        command
    }

    /// A new request to give `key` back.
    fn unlock(&mut self, key: &str) -> Unlock {
        let latch = self.instance.latch(key);
        let channel = names::lock_channel(key);
        let mut keys = match self.waking {
            Waking::Told => vec![key, &channel],
            Waking::Spinning => vec![key],
        };
        keys.extend(latch.as_deref());
        let mut command = match self.waking {
            Waking::Told => {
                let mut command = eval(self.instance.script(UNLOCK), &keys);
                command.arg("0");
                command
            }
            Waking::Spinning => eval(self.instance.script(UNLOCK_SPIN), &keys),
        };
        command.arg(self.lease_ms()).arg(self.instance.holder());
        if self.waking == Waking::Told {
            command.arg(self.instance.publish());
        }
        command.arg(LATCH_MS);
        Unlock { command, latch }
    }

    fn lease_ms(&self) -> u64 {
        self.lease.as_millis() as u64
    }

    /// Reads the reply to an acquire: the token, or the time to live of who holds.
    fn read(&self, reply: &Value) -> Result<Option<u64>, i64> {
        if !self.fenced {
            return granted(reply).map(|()| None);
        }
        match reply {
            Value::Array(items) => match &**items {
                [Value::Int(-1), Value::Int(token)] if *token > 0 => Ok(u64::try_from(*token).ok()),
                [Value::Int(ttl), _] => Err(*ttl),
                _ => Err(-1),
            },
            _ => Err(-1),
        }
    }
}

impl Lock for Redisson {
    async fn acquire(&mut self, key: &str, _: Ask) -> Outcome<Grant> {
        let command = self.lock_script(key);
        let synced = match self.instance.call_synced(&command).await {
            Ok(synced) => synced,
            Err(error) => return error.into(),
        };
        match self.read(&synced.reply) {
            Ok(token) if synced.enough => Outcome::Done(Grant {
                token,
                ..Grant::of(self.lease)
            }),
            Ok(_) => {
                let unlock = self.unlock(key);
                self.instance.withdraw(&unlock).await
            }
            Err(ttl) => {
                self.instance.refused(ttl);
                Outcome::Denied
            }
        }
    }

    async fn renew(&mut self, key: &str, _: Ask) -> Outcome<Grant> {
        self.instance.keep(key, self.lease).await
    }

    fn renewal_batch(&self) -> usize {
        self.instance.era().renewal_batch()
    }

    async fn renew_batch(&mut self, leases: &[(Name, Ask)]) -> Vec<Outcome<Grant>> {
        self.instance.keep_all(leases, self.lease).await
    }

    async fn release(&mut self, key: &str, _: Ask) -> Outcome<Released> {
        let unlock = self.unlock(key);
        released(self.instance.unlock(&unlock).await)
    }

    async fn await_turn(&mut self, key: &str, pause: Duration, deadline: Instant) {
        match self.waking {
            Waking::Told => {
                let channel = names::lock_channel(key);
                self.instance.await_message(&channel, pause, deadline).await;
            }
            Waking::Spinning => {
                let pause = self.spin;
                self.spin = SPIN.1.min(2 * pause);
                sleep_until(deadline.min(Instant::now() + pause)).await;
            }
        }
    }

    async fn end_wait(&mut self, _: &str, granted: bool) {
        self.spin = SPIN.0;
        self.instance.end_wait(granted).await;
    }

    fn granted_by(&self) -> Vec<Name> {
        self.instance.asked().into_iter().collect()
    }

    fn marks(&self, _key: &str) -> Vec<String> {
        vec![self.instance.holder().to_owned()]
    }
}

/// The outcome of an unlock script: 1 = free, 0 = still held, nil = not the caller's.
pub(super) fn released(reply: Result<Value, CallError>) -> Outcome<Released> {
    match reply {
        Ok(Value::Int(1)) => Outcome::Done(Released { count: Some(0) }),
        Ok(Value::Int(_)) => Outcome::Done(Released { count: None }),
        Ok(Value::Nil) => Outcome::Denied,
        Ok(odd) => Outcome::odd(&odd),
        Err(error) => error.into(),
    }
}
