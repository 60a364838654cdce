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
use super::withdrawal::{Remedy, Withdraws};
use crate::connection::CallError;
use crate::locks::batch_renewal::BatchRenewal;
use crate::locks::context::LockContext;
use crate::locks::lock::{Grant, Lock, LockRequest, Outcome, Released};
use crate::locks::provenance::Provenance;
use crate::locks::waiting::{WaitEnd, Waiting};

const LOCK: &str = include_str!("scripts/lock.lua");
const LOCK_FENCED: &str = include_str!("scripts/lock_fenced.lua");
const UNLOCK: &str = include_str!("scripts/unlock.lua");
const UNLOCK_SPIN: &str = include_str!("scripts/unlock_spin.lua");

/// The first and the longest pause of a spinning client.
const SPIN: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(128));

/// The lock with pub/sub.
pub type Redisson = RLock<false, false>;
/// The spin lock.
pub type RedissonSpin = RLock<true, false>;
/// The fenced lock.
pub type RedissonFenced = RLock<false, true>;

/// One client's side of the lock. A waiting client learns of a release by a message or, where it
/// `SPINS`, by looking, at growing intervals; where it is `FENCED`, each grant has a token.
pub struct RLock<const SPINS: bool, const FENCED: bool> {
    instance: Instance,
    lease: Duration,
    /// The next pause of a spinning client.
    spin: Duration,
}

impl<const SPINS: bool, const FENCED: bool> RLock<SPINS, FENCED> {
    /// Holds nothing yet.
    pub fn new(spec: &scenarios::Redisson, context: LockContext) -> Self {
        Self {
            instance: Instance::new(spec.era, spec.synced(), spec.sync_timeout.0, context)
                .mutated(spec.mutant),
            lease: spec.time_to_live().0,
            spin: SPIN.0,
        }
    }

    /// Asks for another time to live from now on.
    pub(super) fn set_lease(&mut self, lease: Duration) {
        self.lease = lease;
    }

    /// Gives back what a server may have granted that said nothing, in one try: Redisson uses the
    /// connection that it has.
    pub(super) async fn take_back(&mut self, key: &str) -> Outcome<Released> {
        let persists = self.instance.set_persists(false);
        let released = self.release(key, LockRequest::default()).await;
        self.instance.set_persists(persists);
        released
    }

    /// Tells whether the last command reached a server that said nothing.
    pub(super) const fn is_unanswered(&self) -> bool {
        self.instance.is_unanswered()
    }

    /// Sets the time to live of the key without a look at its owner; whether there was a key counts
    /// for nothing.
    pub(super) async fn expire(&mut self, key: &str, lease: Duration) -> Result<(), CallError> {
        let mut command = redis::cmd("PEXPIRE");
        command.arg(key).arg(lease.as_millis() as u64);
        self.instance.call(&command).await.map(|_| ())
    }

    fn lock_script(&self, key: &str) -> Cmd {
        let mut command = if FENCED {
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
        let mut keys = if SPINS {
            vec![key]
        } else {
            vec![key, &channel]
        };
        keys.extend(latch.as_deref());
        let mut command = if SPINS {
            eval(self.instance.script(UNLOCK_SPIN), &keys)
        } else {
            let mut command = eval(self.instance.script(UNLOCK), &keys);
            command.arg("0");
            command
        };
        command.arg(self.lease_ms()).arg(self.instance.holder());
        if !SPINS {
            command.arg(self.instance.publish());
        }
        command.arg(LATCH_MS);
        Unlock { command, latch }
    }

    fn lease_ms(&self) -> u64 {
        self.lease.as_millis() as u64
    }

    /// Reads the reply to an acquire: the token, or the time to live of who holds.
    fn read(reply: &Value) -> Result<Option<u64>, i64> {
        if !FENCED {
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

impl<const SPINS: bool, const FENCED: bool> Lock for RLock<SPINS, FENCED> {
    async fn connect(&mut self) {
        self.instance.connect().await;
    }

    async fn acquire(&mut self, key: &str, ask: LockRequest) -> Outcome<Grant> {
        let command = self.lock_script(key);
        let reply = match self.ask(&command, key, ask).await {
            Ok(reply) => reply,
            Err(error) => return error.into(),
        };
        match Self::read(&reply) {
            Ok(token) => Outcome::Done(Grant {
                token,
                ..Grant::of(self.lease)
            }),
            Err(ttl) => {
                self.instance.refused(ttl);
                Outcome::Denied
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

impl<const SPINS: bool, const FENCED: bool> Withdraws for RLock<SPINS, FENCED> {
    fn instance(&mut self) -> &mut Instance {
        &mut self.instance
    }

    async fn withdraw(&mut self, key: &str, _: LockRequest) -> Result<(), CallError> {
        let unlock = self.unlock(key);
        self.instance.withdraw(&unlock).await
    }

    /// `RedissonSpinLock` asks no second time, and `RedissonFencedLock.tryLockAndGetToken` leaves
    /// the grant where it is.
    fn remedy(&self) -> Remedy {
        if FENCED {
            Remedy::LeavesIt
        } else if SPINS {
            Remedy::Withdraws
        } else {
            Remedy::AsksAgain
        }
    }
}

impl<const SPINS: bool, const FENCED: bool> BatchRenewal for RLock<SPINS, FENCED> {
    fn renewal_batch(&self) -> usize {
        self.instance.era().renewal_batch()
    }

    async fn renew_batch(&mut self, leases: &[(Name, LockRequest)]) -> Vec<Outcome<Grant>> {
        self.instance.keep_all(leases, self.lease).await
    }
}

impl<const SPINS: bool, const FENCED: bool> Waiting for RLock<SPINS, FENCED> {
    async fn await_turn(&mut self, key: &str, pause: Duration, deadline: Instant) {
        if SPINS {
            let pause = self.spin;
            self.spin = SPIN.1.min(2 * pause);
            sleep_until(deadline.min(Instant::now() + pause)).await;
        } else {
            let channel = names::lock_channel(key);
            self.instance.await_message(&channel, pause, deadline).await;
        }
    }

    async fn end_wait(&mut self, _: &str, end: WaitEnd) {
        self.spin = SPIN.0;
        self.instance.end_wait(end).await;
    }
}

impl<const SPINS: bool, const FENCED: bool> Provenance for RLock<SPINS, FENCED> {
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
        Ok(Value::Int(1)) => Outcome::Done(Released::leaving(Some(0))),
        Ok(Value::Int(_)) => Outcome::Done(Released::leaving(None)),
        Ok(Value::Nil) => Outcome::Denied,
        Ok(odd) => Outcome::odd(&odd),
        Err(error) => error.into(),
    }
}
