//! `token` with a counter: each grant carries a number greater than all before it.
//!
//! Source: fencing tokens as Kleppmann proposes them ("How to do distributed locking", 2016), with
//! the counter in the server that grants. The counter is kept beside the lock in the same Cluster
//! slot and never expires, but it is no safer than the server: one that forgets starts again at 1.

use std::time::Duration;

use lockstorm_checker::history::Name;
use lockstorm_scenarios as scenarios;
use redis::Value;

use super::batch_renewal::BatchRenewal;
use super::context::LockContext;
use super::lock::{Grant, Lock, LockRequest, Outcome, Released};
use super::mutation::Mutation;
use super::provenance::Provenance;
use super::redisson::suffixed;
use super::token::Token;
use super::waiting::Waiting;

const ACQUIRE: &str = include_str!("scripts/acquire_fenced.lua");

/// One client's side of the lock.
pub struct TokenFenced {
    token: Token,
    lease: Duration,
    mutation: Mutation,
}

impl TokenFenced {
    /// Holds nothing yet.
    pub fn new(spec: &scenarios::Token, context: LockContext) -> Self {
        Self {
            token: Token::new(spec, context),
            lease: spec.lease.0,
            mutation: Mutation::of(spec.mutant),
        }
    }
}

impl Lock for TokenFenced {
    async fn acquire(&mut self, key: &str, _: LockRequest) -> Outcome<Grant> {
        let value = self.token.draw();
        let mut command = redis::cmd("EVAL");
        command
            .arg(self.mutation.script(ACQUIRE))
            .arg(2)
            .arg(key)
            .arg(suffixed(key, "token"))
            .arg(&value)
            .arg(self.lease.as_millis() as u64);
        let outcome = match self.token.primary().call(&command).await {
            Ok(Value::Int(0)) => Outcome::Denied,
            Ok(Value::Int(token)) => Outcome::Done(Grant {
                lease: Some(self.lease),
                token: u64::try_from(token).ok(),
                ..Grant::default()
            }),
            Ok(odd) => Outcome::odd(&odd),
            Err(error) => error.into(),
        };
        self.token.keep(key, value, &outcome);
        outcome
    }

    async fn renew(&mut self, key: &str, ask: LockRequest) -> Outcome<Grant> {
        self.token.renew(key, ask).await
    }

    async fn release(&mut self, key: &str, ask: LockRequest) -> Outcome<Released> {
        self.token.release(key, ask).await
    }
}

impl BatchRenewal for TokenFenced {}

impl Waiting for TokenFenced {}

impl Provenance for TokenFenced {
    fn granted_by(&self) -> Vec<Name> {
        self.token.granted_by()
    }

    fn marks(&self, key: &str) -> Vec<String> {
        self.token.marks(key)
    }
}
