//! The tries by which an outage that goes on is known.
//!
//! Whoever wants a lock in vain asks for it again and again. To know how long, it takes one try for
//! each pause that may lie between two of them, and not all.

use crate::availability::{PAUSE_MAX, held};
use crate::case::Case;
use crate::history::Nanos;
use crate::hold::Hold;
use crate::operation::{Action, KeyId, OpId, Operation};

/// The tries to keep of `key`, whose holds these are, and which was not judged for good since
/// `begun`. The one that ended last is always among them: by it the lock is known, and when it was
/// last wanted. Likewise the acquire of the hold that ended last before.
pub(super) fn tries(case: &Case, key: KeyId, holds: &[Hold], begun: Nanos) -> Vec<OpId> {
    let digest = case.digest;
    let granted = holds.iter().filter(|hold| hold.is_granted());
    let ended = granted.map(|hold| (held(hold).end, hold.acquire));
    let last = ended.filter(|&(end, _)| end < begun).max();
    let free_since = last.map_or(Nanos(0), |(end, _)| end);
    let mut chain = Chain::default();
    for (id, attempt) in digest.operations_on(key) {
        if attempt.action == Action::Acquire {
            let end = until(attempt, digest.end);
            chain.last = chain.last.max(Some((end, id)));
            if attempt.invoked <= free_since {
                chain.before = Some(id);
            }
            if end > free_since {
                chain.link(id, attempt.invoked, end);
            }
        }
    }
    let mut kept = chain.links;
    kept.extend(last.map(|(_, acquire)| acquire));
    kept.extend(chain.candidate.map(|(_, id)| id));
    kept.extend(chain.last.map(|(_, id)| id));
    if kept.len() > 1 {
        kept.extend(chain.before);
    }
    kept
}

fn until(attempt: &Operation, end: Nanos) -> Nanos {
    attempt.completion.map_or(end, |completion| completion.time)
}

/// Tries that follow one upon the other without a long pause.
#[derive(Default)]
struct Chain {
    links: Vec<OpId>,
    /// How far the links reach.
    reach: Nanos,
    /// The next link, if it must be: of those that follow upon the last, the one that ends last.
    candidate: Option<(Nanos, OpId)>,
    /// The try that ends last of all.
    last: Option<(Nanos, OpId)>,
    /// The last try that was sent before the lock was free.
    before: Option<OpId>,
}

impl Chain {
    fn link(&mut self, id: OpId, sent: Nanos, end: Nanos) {
        if sent > self.reach + PAUSE_MAX {
            if let Some((reach, link)) = self.candidate.take() {
                self.reach = reach;
                self.links.push(link);
            }
            if self.links.is_empty() || sent > self.reach + PAUSE_MAX {
                self.links.clear();
                self.links.push(id);
                self.reach = end;
                return;
            }
        }
        if end > self.reach {
            self.candidate = self.candidate.max(Some((end, id)));
        }
    }
}
