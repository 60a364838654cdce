//! The semaphore with permits that expire: each has an id and an end, by its client's clock.
//!
//! Whoever asks takes back what has ended by *its* clock: a client whose clock is fast takes back
//! permits that are in use.

use std::collections::HashMap;
use std::time::Duration;

use lockstorm_checker::history::Name;
use lockstorm_scenarios as scenarios;
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use redis::{Cmd, Value};
use tokio::time::Instant;

use super::instance::{Instance, eval};
use super::names;
use super::semaphore::Stock;
use super::withdrawal::Withdraws;
use crate::clock::wall_ms;
use crate::connection::CallError;
use crate::locks::batch_renewal::BatchRenewal;
use crate::locks::context::LockContext;
use crate::locks::lock::{Grant, Lock, LockRequest, Outcome, Released};
use crate::locks::provenance::Provenance;
use crate::locks::waiting::{WaitEnd, Waiting};

const ACQUIRE: &str = include_str!("scripts/permits_acquire.lua");
const RELEASE: &str = include_str!("scripts/permit_release.lua");

/// The time that means never, in milliseconds.
const NEVER_MS: u64 = 922_337_203_685_477;

/// The id of a permit: 16 random bytes.
type Permit = [u8; 16];

/// One client's side of the semaphore.
pub struct RedissonPermits {
    instance: Instance,
    stock: Stock,
    lease: Duration,
    rng: ChaCha8Rng,
    /// The permits that the request under way asks for.
    asked: Vec<Permit>,
    /// The permits that this client has of each key, or may have, grant by grant.
    held: HashMap<String, Vec<Vec<Permit>>>,
}

impl RedissonPermits {
    /// Holds nothing yet.
    pub fn new(spec: &scenarios::Permits, mut context: LockContext) -> Self {
        Self {
            rng: rand::SeedableRng::from_rng(&mut context.rng),
            instance: Instance::newest(spec.sync_timeout.0, context).mutated(spec.mutant),
            stock: Stock::new(spec.permits),
            lease: spec.lease.0,
            asked: Vec::new(),
            held: HashMap::new(),
        }
    }

    fn draw(&mut self, permits: u32) -> Vec<Permit> {
        (0..permits)
            .map(|_| self.rng.random::<u128>().to_be_bytes())
            .collect()
    }

    /// Outcome that the reply to an acquire at `now` tells of.
    fn read(&mut self, reply: &Value, now: u64) -> Outcome<Grant> {
        match reply {
            Value::BulkString(text) if text == b"OK" => Outcome::Done(Grant::of(self.lease)),
            Value::BulkString(next) => {
                self.instance.refused(until_ms(next, now));
                Outcome::Denied
            }
            Value::Nil => {
                self.instance.refused(-1);
                Outcome::Denied
            }
            odd => Outcome::odd(odd),
        }
    }

    fn release_script(&self, key: &str, id: &Permit) -> Cmd {
        let channel = names::semaphore_channel(key);
        let keys = [key, &channel, &names::suffixed(key, "timeout")];
        let mut command = eval(self.instance.script(RELEASE), &keys);
        command
            .arg(id)
            .arg(1)
            .arg(wall_ms())
            .arg(self.instance.publish());
        command
    }
}

impl Withdraws for RedissonPermits {
    fn instance(&mut self) -> &mut Instance {
        &mut self.instance
    }

    async fn withdraw(&mut self, key: &str, _: LockRequest) -> Result<(), CallError> {
        for at in 0..self.asked.len() {
            let command = self.release_script(key, &self.asked[at]);
            if let Err(CallError::Killed) = self.instance.call_until_synced(&command).await {
                return Err(CallError::Killed);
            }
        }
        Ok(())
    }
}

impl Lock for RedissonPermits {
    async fn connect(&mut self) {
        self.instance.connect().await;
    }

    async fn acquire(&mut self, key: &str, ask: LockRequest) -> Outcome<Grant> {
        if let Err(error) = self.stock.set(&mut self.instance, key).await {
            return error.into();
        }
        self.asked = self.draw(ask.permits);
        let now = wall_ms();
        let mut command = redis::cmd("EVAL");
        command
            .arg(self.instance.script(ACQUIRE))
            .arg(3)
            .arg(key)
            .arg(names::suffixed(key, "timeout"))
            .arg(names::semaphore_channel(key))
            .arg(ask.permits)
            .arg(now + self.lease.as_millis() as u64)
            .arg(now)
            .arg(NEVER_MS)
            .arg(self.instance.publish());
        for id in &self.asked {
            command.arg(id);
        }
        let outcome = match self.ask(&command, key, ask).await {
            Ok(reply) => self.read(&reply, now),
            Err(error) => error.into(),
        };
        // Without an answer they may be out, and then they are these.
        if matches!(outcome, Outcome::Done(_) | Outcome::Unknown(_)) {
            let asked = std::mem::take(&mut self.asked);
            self.held.entry(key.to_owned()).or_default().push(asked);
        }
        outcome
    }

    async fn renew(&mut self, _: &str, _: LockRequest) -> Outcome<Grant> {
        Outcome::Failed("permits of this semaphore are not renewed".to_owned())
    }

    async fn release(&mut self, key: &str, _: LockRequest) -> Outcome<Released> {
        let Some(ids) = self.held.get_mut(key).and_then(Vec::pop) else {
            return Outcome::Failed("this client has no permit to give back".to_owned());
        };
        let mut given_back = true;
        for (n, id) in ids.iter().enumerate() {
            let command = self.release_script(key, id);
            match self.instance.call_until_synced(&command).await {
                Ok(Value::Int(back)) => given_back &= back == 1,
                Ok(odd) => return Outcome::odd(&odd),
                // Some are back, so it cannot be said to have had no effect.
                Err(CallError::Failed(text)) if n > 0 => return Outcome::Unknown(text),
                Err(error) => return error.into(),
            }
        }
        if given_back {
            Outcome::Done(Released::default())
        } else {
            Outcome::Denied
        }
    }
}

impl BatchRenewal for RedissonPermits {}

impl Waiting for RedissonPermits {
    async fn await_turn(&mut self, key: &str, pause: Duration, deadline: Instant) {
        let channel = names::semaphore_channel(key);
        self.instance.await_message(&channel, pause, deadline).await;
    }

    async fn end_wait(&mut self, _: &str, end: WaitEnd) {
        self.instance.end_wait(end).await;
    }
}

impl Provenance for RedissonPermits {
    fn granted_by(&self) -> Vec<Name> {
        self.instance.asked().into_iter().collect()
    }
}

/// Time until the next permit ends, from `:` and its time; negative if nobody can tell.
fn until_ms(next: &[u8], now: u64) -> i64 {
    let time = std::str::from_utf8(next)
        .ok()
        .and_then(|text| text.strip_prefix(':'))
        .and_then(|time| time.parse::<f64>().ok());
    time.map_or(-1, |time| (time as i64).saturating_sub_unsigned(now).max(0))
}
