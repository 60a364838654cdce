//! `SET key <client> NX PX lease`, given back by a plain DEL.
//!
//! The lease comes with the key, so that a dead client blocks nobody forever. The weakness that is
//! left is the point: DEL removes whatever is there, so who comes back after its lease deletes the
//! lock of another.

use std::time::Duration;

use lockstorm_checker::history::Name;
use lockstorm_scenarios as scenarios;

use super::batch_renewal::BatchRenewal;
use super::context::LockContext;
use super::lock::{Grant, Lock, LockRequest, Outcome, Released};
use super::provenance::Provenance;
use super::token::{outcome, set_if_absent};
use super::waiting::Waiting;
use crate::connection::Primary;

/// One client's side of the lock.
pub struct PlainDel {
    primary: Primary,
    client: String,
    lease: Duration,
}

impl PlainDel {
    /// Holds nothing yet.
    pub fn new(spec: &scenarios::PlainDel, context: LockContext) -> Self {
        Self {
            primary: Primary::new(context.dialer, context.route),
            client: context.client,
            lease: spec.lease.0,
        }
    }
}

impl Lock for PlainDel {
    async fn acquire(&mut self, key: &str, _: LockRequest) -> Outcome<Grant> {
        let command = set_if_absent(key, &self.client, self.lease);
        outcome(self.primary.call(&command).await, Grant::of(self.lease))
    }

    async fn renew(&mut self, key: &str, _: LockRequest) -> Outcome<Grant> {
        let mut command = redis::cmd("PEXPIRE");
        command.arg(key).arg(self.lease.as_millis() as u64);
        outcome(self.primary.call(&command).await, Grant::of(self.lease))
    }

    async fn release(&mut self, key: &str, _: LockRequest) -> Outcome<Released> {
        let mut command = redis::cmd("DEL");
        command.arg(key);
        outcome(self.primary.call(&command).await, Released::default())
    }
}

impl BatchRenewal for PlainDel {}

impl Waiting for PlainDel {}

impl Provenance for PlainDel {
    fn granted_by(&self) -> Vec<Name> {
        self.primary.asked().into_iter().collect()
    }
}
