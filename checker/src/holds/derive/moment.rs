//! When an operation or a note bears on the hold of an owner.
//!
//! For: taking what was sent and answered in the order in which it counts. Not for: what it does to
//! a hold.

use crate::history::Nanos;
use crate::operations::{Action, Digest, Edge, OpId, Outcome, OwnerId};

/// Time at which something bears on the hold of an owner.
#[derive(Clone, Copy)]
pub(super) struct Moment {
    pub(super) time: Nanos,
    pub(super) index: u64,
    pub(super) news: News,
}

/// Event that bears on a hold.
#[derive(Clone, Copy)]
pub(super) enum News {
    Op(OpId),
    /// An acquire was sent that will be granted.
    Asked(OpId),
    /// The client was told that it lost the lock.
    Lost(OwnerId),
}

/// The moment that an end of an operation is, if the operation bears on a hold there.
pub(super) fn moment(digest: &Digest, edge: Edge) -> Option<Moment> {
    let id = edge.operation();
    let operation = digest.operation(id);
    let at_answer = match (operation.action, operation.outcome) {
        (Action::Acquire | Action::Renew | Action::Resource(_), Outcome::Ok)
        | (Action::Renew, Outcome::NotOwner) => true,
        (Action::Acquire | Action::Renew, Outcome::Unknown) | (Action::Release, _) => false,
        (Action::Acquire | Action::Renew | Action::Resource(_) | Action::Other, _) => return None,
    };
    let is_asked = edge.is_sent() && at_answer && operation.action == Action::Acquire;
    if edge.is_sent() == at_answer && !is_asked {
        return None;
    }
    let (time, index) = match operation.completion {
        Some(completion) if !edge.is_sent() => (completion.time, completion.index),
        Some(_) | None => (operation.invoked, operation.invoke),
    };
    let news = if is_asked {
        News::Asked(id)
    } else {
        News::Op(id)
    };
    Some(Moment { time, index, news })
}
