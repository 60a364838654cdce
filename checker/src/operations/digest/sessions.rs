//! Grants that last as long as the session of their owner.
//!
//! The service may take such a lock away as soon as it sees the session end, which its owner learns
//! later or never. So a grant whose session ended has a lease of unknown length: it was held when
//! it was asked for, and may have been free at any time after.

use std::collections::HashMap;

use crate::history::{Nanos, Until, Value};
use crate::operations::{KeyId, OpId, Operation, OwnerId};

/// Length of a lease of which nobody knows when it ended.
const OPEN: Option<Nanos> = Some(Nanos(0));

/// Grants of sessions that may go on, by lock and owner.
#[derive(Debug, Default)]
pub(super) struct Sessions(HashMap<(KeyId, OwnerId), Session>);

/// Grants of an owner since it held nothing.
#[derive(Debug, Default)]
struct Session {
    grants: Vec<OpId>,
    /// Grants that were not given back yet.
    depth: u32,
    is_over: bool,
}

/// An acquire asks for the lock until its session ends. One that is never answered shows nothing of
/// its session.
pub(super) fn ask(acquire: &mut Operation, until: Option<Until>) {
    acquire.is_kept_by_session = acquire.lease.is_some() && until.is_some();
    if acquire.lease.is_none() && until.is_some() {
        (acquire.is_of_session, acquire.lease) = (true, OPEN);
    }
}

/// An acquire was granted: a lease that the reply names goes before a session, which may yet keep
/// the lock for longer.
pub(super) fn answer(acquire: &mut Operation, reply: &Value) {
    let has_lease = acquire.is_kept_by_session || reply.lease_ms.is_some();
    let is_asked = acquire.is_of_session || acquire.is_kept_by_session || reply.until.is_some();
    acquire.is_of_session = is_asked && !has_lease;
    acquire.is_kept_by_session = is_asked && has_lease;
}

/// An acquire is read once more: nothing is known yet of how its session goes on.
pub(super) fn forget(acquire: &mut Operation) {
    if acquire.is_of_session {
        acquire.lease = OPEN;
    }
}

impl Sessions {
    /// An acquire was granted, by whose answer it is or is not [of a session](answer).
    pub(super) fn grant(&mut self, id: OpId, acquire: &mut Operation) {
        if !acquire.is_of_session {
            return;
        }
        acquire.lease = None;
        let session = self.0.entry((acquire.key, acquire.owner)).or_default();
        if session.is_over {
            *session = Session::default();
        }
        session.grants.push(id);
        session.depth += 1;
    }

    /// The owner has given one grant back: with the last, what becomes of its session tells nothing
    /// more of them. A session that ends during a release may have ended before it.
    pub(super) fn released(&mut self, place: (KeyId, OwnerId)) {
        if let Some(session) = self.0.get_mut(&place) {
            session.depth = session.depth.saturating_sub(1);
            if session.depth == 0 {
                self.0.remove(&place);
            }
        }
    }

    /// The client died: all its sessions have ended.
    pub(super) fn end_all(&mut self, owner: OwnerId, operations: &mut [Operation]) {
        let places: Vec<_> = self
            .0
            .keys()
            .filter(|place| place.1 == owner)
            .copied()
            .collect();
        for place in places {
            self.end(place, true, operations);
        }
    }

    /// The session of the owner has ended, as far as it is about this lock; or, after all, it has
    /// not.
    pub(super) fn end(
        &mut self,
        place: (KeyId, OwnerId),
        is_over: bool,
        operations: &mut [Operation],
    ) {
        if let Some(session) = self.0.get_mut(&place) {
            session.is_over = is_over;
            for grant in &session.grants {
                operations[grant.position()].lease = if is_over { OPEN } else { None };
            }
        }
    }
}
