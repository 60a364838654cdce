//! `SET key value NX PX lease`, and compare-and-delete by script.
//!
//! Source: the Redis documentation's pattern for a single instance (SET, "Patterns"). Promises
//! mutual exclusion as long as the one server keeps what it acknowledged.

use std::collections::HashMap;
use std::time::Duration;

use lockstorm_checker::history::Name;
use lockstorm_scenarios::{self as scenarios, Mutant};
use rand_chacha::ChaCha8Rng;
use redis::{Cmd, Value};

use super::batch_renewal::BatchRenewal;
use super::context::{LockContext, random_value};
use super::lock::{Grant, Lock, LockRequest, Outcome, Released};
use super::mutation::Mutation;
use super::provenance::Provenance;
use super::waiting::Waiting;
use crate::clock::wall_ms;
use crate::connection::{CallError, Primary};

const RELEASE: &str = include_str!("scripts/release.lua");
const RENEW: &str = include_str!("scripts/renew.lua");

/// One client's side of the lock.
pub struct Token {
    primary: Primary,
    lease: Duration,
    rng: ChaCha8Rng,
    /// The random value of the latest try for each key that may have taken effect.
    values: HashMap<String, String>,
    mutation: Mutation,
}

impl Token {
    /// Holds nothing yet.
    pub fn new(spec: &scenarios::Token, context: LockContext) -> Self {
        Self {
            primary: Primary::new(context.dialer, context.route),
            lease: spec.lease.0,
            rng: context.rng,
            values: HashMap::new(),
            mutation: Mutation::of(spec.mutant),
        }
    }

    /// The random value by which `key` is held, as far as it is.
    pub(super) fn value(&self, key: &str) -> &str {
        self.values.get(key).map_or("", String::as_str)
    }

    /// A random value for a try.
    pub(super) fn draw(&mut self) -> String {
        if self.mutation.is(Mutant::SameTokenForAll) {
            return "locked".to_owned();
        }
        random_value(&mut self.rng)
    }

    /// See [`keep`].
    pub(super) fn keep<T>(&mut self, key: &str, value: String, outcome: &Outcome<T>) {
        keep(&mut self.values, key, value, outcome);
    }

    pub(super) fn primary(&mut self) -> &mut Primary {
        &mut self.primary
    }
}

/// `SET key value NX PX lease`.
pub fn set_if_absent(key: &str, value: &str, lease: Duration) -> Cmd {
    set(&Mutation::NONE, key, value, lease)
}

fn set(mutation: &Mutation, key: &str, value: &str, lease: Duration) -> Cmd {
    let mut command = redis::cmd("SET");
    command.arg(key).arg(value);
    if !mutation.is(Mutant::SetWithoutNx) {
        command.arg("NX");
    }
    if mutation.is(Mutant::EndByClientClock) {
        let end = wall_ms() + lease.as_millis() as u64;
        command.arg("PXAT").arg(end);
    } else if mutation.is(Mutant::LeaseInSeconds) {
        command.arg("PX").arg(lease.as_secs().max(1));
    } else if !mutation.is(Mutant::NeverExpires) {
        command.arg("PX").arg(lease.as_millis() as u64);
    }
    command
}

/// Deletes the key if it holds `value`.
///
/// The script's text goes along each time: loading it once and calling it by digest would need a
/// second, hidden round trip whenever a server has forgotten it.
pub fn delete_if_equal(key: &str, value: &str) -> Cmd {
    delete_by(RELEASE, key, value)
}

fn delete_by(script: &str, key: &str, value: &str) -> Cmd {
    let mut command = redis::cmd("EVAL");
    command.arg(script).arg(1).arg(key).arg(value);
    command
}

/// Extends the key's time to live if it holds `value`.
pub fn extend_if_equal(key: &str, value: &str, lease: Duration) -> Cmd {
    extend_by(RENEW, key, value, lease)
}

fn extend_by(script: &str, key: &str, value: &str, lease: Duration) -> Cmd {
    let mut command = redis::cmd("EVAL");
    command
        .arg(script)
        .arg(1)
        .arg(key)
        .arg(value)
        .arg(lease.as_millis() as u64);
    command
}

/// Reads the reply of a command that takes effect or not.
pub fn took_effect(reply: &Result<Value, CallError>) -> Option<bool> {
    match reply {
        Ok(Value::Okay) => Some(true),
        Ok(Value::Nil) => Some(false),
        Ok(Value::Int(count)) => Some(*count > 0),
        Ok(_) | Err(_) => None,
    }
}

/// Keeps the random value of a try for `key`, unless the try certainly had no effect: who is
/// refused a lock that it holds itself must not forget by what it holds it.
pub fn keep<T>(
    values: &mut HashMap<String, String>,
    key: &str,
    value: String,
    outcome: &Outcome<T>,
) {
    if matches!(outcome, Outcome::Denied | Outcome::Failed(_)) {
        return;
    }
    // No new key where there is one: this is on the path of every cycle.
    match values.get_mut(key) {
        Some(kept) => *kept = value,
        None => {
            values.insert(key.to_owned(), value);
        }
    }
}

/// The outcome of a command that takes effect or not.
pub fn outcome<T>(reply: Result<Value, CallError>, done: T) -> Outcome<T> {
    match (took_effect(&reply), reply) {
        (Some(true), _) => Outcome::Done(done),
        (Some(false), _) => Outcome::Denied,
        (None, Err(error)) => error.into(),
        (None, Ok(odd)) => Outcome::odd(&odd),
    }
}

impl Lock for Token {
    async fn acquire(&mut self, key: &str, _: LockRequest) -> Outcome<Grant> {
        let value = self.draw();
        let command = set(&self.mutation, key, &value, self.lease);
        let outcome = outcome(self.primary.call(&command).await, Grant::of(self.lease));
        self.keep(key, value, &outcome);
        outcome
    }

    async fn renew(&mut self, key: &str, _: LockRequest) -> Outcome<Grant> {
        let script = self.mutation.script(RENEW);
        let command = extend_by(script, key, self.value(key), self.lease);
        outcome(self.primary.call(&command).await, Grant::of(self.lease))
    }

    async fn release(&mut self, key: &str, _: LockRequest) -> Outcome<Released> {
        let command = delete_by(self.mutation.script(RELEASE), key, self.value(key));
        outcome(self.primary.call(&command).await, Released::default())
    }
}

impl BatchRenewal for Token {}

impl Waiting for Token {}

impl Provenance for Token {
    fn granted_by(&self) -> Vec<Name> {
        self.primary.asked().into_iter().collect()
    }

    fn marks(&self, key: &str) -> Vec<String> {
        self.values.get(key).cloned().into_iter().collect()
    }
}
