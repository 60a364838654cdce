//! SETNX, then EXPIRE; released by a plain DEL. The broken ancestor of the others.
//!
//! Two weaknesses are the point: a client that dies between the two commands leaves a key without
//! time to live, and DEL removes whatever is there, whoever owns it.

use std::time::Duration;

use lockstorm_checker::history::Name;
use lockstorm_scenarios as scenarios;
use redis::Value;

use super::batch_renewal::BatchRenewal;
use super::context::LockContext;
use super::lock::{Grant, Lock, LockRequest, Outcome, Released};
use super::provenance::Provenance;
use super::waiting::Waiting;
use crate::connection::Primary;

/// One client's side of the lock.
pub struct Setnx {
    primary: Primary,
    client: String,
    lease: Duration,
    /// The server that set the key last.
    granted_by: Option<Name>,
}

impl Setnx {
    /// Holds nothing yet.
    pub fn new(spec: &scenarios::Setnx, context: LockContext) -> Self {
        Self {
            primary: Primary::new(context.dialer, context.route),
            client: context.client,
            lease: spec.lease.0,
            granted_by: None,
        }
    }

    /// `EXPIRE key lease`: whether the key was there.
    async fn expire(&mut self, key: &str) -> Outcome<Grant> {
        let mut command = redis::cmd("EXPIRE");
        command.arg(key).arg(self.lease.as_secs());
        match self.primary.call(&command).await {
            Ok(Value::Int(0)) => Outcome::Denied,
            Ok(_) => Outcome::Done(Grant::of(self.lease)),
            Err(error) => error.into(),
        }
    }

    /// Gives the lease to a key that has just been set.
    async fn lend(&mut self, key: &str) -> Outcome<Grant> {
        match self.expire(key).await {
            // The key is set: an error now is no proof that the lock was not taken.
            Outcome::Failed(text) => Outcome::Unknown(format!("set, but EXPIRE failed: {text}")),
            // Gone in between; this lock does not look.
            Outcome::Denied => Outcome::Done(Grant::of(self.lease)),
            done @ (Outcome::Done(_) | Outcome::Unknown(_) | Outcome::Killed) => done,
        }
    }
}

impl Lock for Setnx {
    async fn acquire(&mut self, key: &str, _: LockRequest) -> Outcome<Grant> {
        let mut command = redis::cmd("SETNX");
        command.arg(key).arg(&self.client);
        match self.primary.call(&command).await {
            Ok(Value::Int(1)) => {
                self.granted_by = self.primary.asked();
                self.lend(key).await
            }
            Ok(_) => Outcome::Denied,
            Err(error) => error.into(),
        }
    }

    async fn renew(&mut self, key: &str, _: LockRequest) -> Outcome<Grant> {
        self.expire(key).await
    }

    async fn release(&mut self, key: &str, _: LockRequest) -> Outcome<Released> {
        let mut command = redis::cmd("DEL");
        command.arg(key);
        match self.primary.call(&command).await {
            Ok(Value::Int(0)) => Outcome::Denied,
            Ok(_) => Outcome::Done(Released::default()),
            Err(error) => error.into(),
        }
    }
}

impl BatchRenewal for Setnx {}

impl Waiting for Setnx {}

impl Provenance for Setnx {
    fn granted_by(&self) -> Vec<Name> {
        self.granted_by.clone().into_iter().collect()
    }
}
