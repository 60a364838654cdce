//! `token`, granted only when enough replicas acknowledge the write.
//!
//! Source: the Redis documentation of WAIT. An acknowledgement says that the write has reached the
//! memory of a replica: what a replica forgets, or a promotion of another one, still loses it. A
//! grant that too few acknowledge is withdrawn, but was there: its outcome is indeterminate.

use std::time::Duration;

use lockstorm_checker::history::Name;
use lockstorm_scenarios::{self as scenarios, Mutant};
use redis::{Cmd, Value};

use super::batch_renewal::BatchRenewal;
use super::context::LockContext;
use super::lock::{Grant, Lock, LockRequest, Outcome, Released};
use super::mutation::Mutation;
use super::provenance::Provenance;
use super::token::{Token, delete_if_equal, extend_if_equal, outcome, set_if_absent};
use super::waiting::Waiting;
use crate::connection::{CallError, Dialer};

/// One client's side of the lock.
pub struct TokenWait {
    token: Token,
    lease: Duration,
    wait: Cmd,
    replicas: u32,
    mutation: Mutation,
}

impl TokenWait {
    /// Holds nothing yet.
    pub fn new(spec: &scenarios::TokenWait, context: LockContext) -> Self {
        let timeout = spec.sync_timeout.0;
        let mut wait = redis::cmd("WAIT");
        wait.arg(spec.replicas).arg(timeout.as_millis() as u64);
        let context = LockContext {
            dialer: Dialer {
                // WAIT answers only when its own time is over.
                batch_timeout: timeout,
                ..context.dialer
            },
            ..context
        };
        let token = scenarios::Token {
            lease: spec.lease,
            renew_every: spec.renew_every,
            mutant: None,
        };
        Self {
            token: Token::new(&token, context),
            lease: spec.lease.0,
            wait,
            replicas: spec.replicas,
            mutation: Mutation::of(spec.mutant),
        }
    }

    /// Sends `command`, and whether enough replicas have it.
    async fn call(&mut self, command: &Cmd) -> Result<(Outcome<Grant>, bool), CallError> {
        let [reply, waited] = self
            .token
            .primary()
            .call_both([command, &self.wait])
            .await?;
        let enough = self.mutation.is(Mutant::WaitNotRead)
            || matches!(waited, Ok(Value::Int(n)) if n >= i64::from(self.replicas));
        Ok((outcome(reply, Grant::of(self.lease)), enough))
    }

    fn too_few(&self) -> Outcome<Grant> {
        Outcome::Unknown(format!(
            "fewer than {} replicas acknowledged it",
            self.replicas
        ))
    }
}

impl Lock for TokenWait {
    async fn acquire(&mut self, key: &str, _: LockRequest) -> Outcome<Grant> {
        let value = self.token.draw();
        let command = set_if_absent(key, &value, self.lease);
        let outcome = match self.call(&command).await {
            Ok((Outcome::Done(_), false)) => {
                let withdrawn = self
                    .token
                    .primary()
                    .call(&delete_if_equal(key, &value))
                    .await;
                match withdrawn {
                    Err(CallError::Killed) => Outcome::Killed,
                    Ok(_) | Err(_) => self.too_few(),
                }
            }
            Ok((outcome, _)) => outcome,
            Err(error) => error.into(),
        };
        self.token.keep(key, value, &outcome);
        outcome
    }

    async fn renew(&mut self, key: &str, _: LockRequest) -> Outcome<Grant> {
        let command = extend_if_equal(key, self.token.value(key), self.lease);
        match self.call(&command).await {
            Ok((Outcome::Done(_), false)) => self.too_few(),
            Ok((outcome, _)) => outcome,
            Err(error) => error.into(),
        }
    }

    async fn release(&mut self, key: &str, ask: LockRequest) -> Outcome<Released> {
        self.token.release(key, ask).await
    }
}

impl BatchRenewal for TokenWait {}

impl Waiting for TokenWait {}

impl Provenance for TokenWait {
    fn granted_by(&self) -> Vec<Name> {
        self.token.granted_by()
    }

    fn marks(&self, key: &str) -> Vec<String> {
        self.token.marks(key)
    }
}
