//! No lock at all: everybody is granted everything at once, without asking any server.
//!
//! The control of all other locks: what goes wrong without one has to show, or a run with one
//! proves nothing.

use lockstorm_checker::history::Name;

use super::batch_renewal::BatchRenewal;
use super::context::LockContext;
use super::lock::{Grant, Lock, LockRequest, Outcome, Released};
use super::provenance::Provenance;
use super::waiting::Waiting;

/// One client's side of nothing.
pub struct NoLock;

impl NoLock {
    /// It needs nothing.
    pub fn new(_: &lockstorm_scenarios::NoLock, _: LockContext) -> Self {
        Self
    }
}

impl Lock for NoLock {
    async fn acquire(&mut self, _: &str, _: LockRequest) -> Outcome<Grant> {
        Outcome::Done(Grant::default())
    }

    async fn renew(&mut self, _: &str, _: LockRequest) -> Outcome<Grant> {
        Outcome::Done(Grant::default())
    }

    async fn release(&mut self, _: &str, _: LockRequest) -> Outcome<Released> {
        Outcome::Done(Released::default())
    }
}

impl BatchRenewal for NoLock {}

impl Waiting for NoLock {}

impl Provenance for NoLock {
    fn granted_by(&self) -> Vec<Name> {
        Vec::new()
    }
}
