//! How often an owner may hold a lock, and how often it must, when an operation of it takes effect.
//!
//! For: properties that ask whether a caller can be the owner at all, and how often it was granted
//! the lock. Not for: the time for which a lock is held, which is the business of the holds.
//!
//! The operations of one owner on one key are booked one after the other. `least` counts the grants
//! that were answered and cannot have been given back, inside their lease; `most` counts all that
//! may have been had and are not certainly over. An operation that overlaps another of its owner
//! may have taken effect in either order: it tells nothing, and its bounds say so.

use std::collections::HashMap;

use crate::history::{Mode, Nanos};
use crate::operations::{Action, Drift, KeyId, Lease, LostNote, OpId, Operation, Outcome, OwnerId};

/// The bounds of an owner's count just before an acquire or a release of it took effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    /// A granted acquire, or a release that was answered.
    pub(crate) op: OpId,
    pub(crate) least: u32,
    pub(crate) most: u32,
}

/// The standing before each granted acquire and each answered release, in order of invocation.
pub(crate) fn standings(
    operations: &[Operation],
    lost: &[LostNote],
    drift: Drift,
) -> Vec<Standing> {
    let mut ledger = Ledger {
        drift,
        notices: notices(lost),
        accounts: HashMap::new(),
        standings: Vec::new(),
    };
    for (id, operation) in OpId::each(operations) {
        match operation.action {
            Action::Acquire | Action::Release => ledger.book(id, operation),
            Action::Renew => ledger.renew(operation),
            Action::Resource(_) | Action::Other => {}
        }
    }
    ledger.standings
}

/// "You lost the lock" notices, in order.
fn notices(lost: &[LostNote]) -> Vec<(KeyId, OwnerId, Nanos)> {
    let notes = lost.iter();
    let mut notices: Vec<_> = notes
        .map(|note| (note.key, note.owner, note.time))
        .collect();
    notices.sort_unstable();
    notices
}

struct Ledger {
    drift: Drift,
    notices: Vec<(KeyId, OwnerId, Nanos)>,
    accounts: HashMap<(KeyId, OwnerId), Account>,
    standings: Vec<Standing>,
}

/// Account of one owner and one key.
#[derive(Default)]
struct Account {
    least: u32,
    most: u32,
    /// Acquires without an answer: each may take effect at any later time.
    phantoms: u32,
    /// Releases without an answer: so may they.
    doubts: u32,
    /// Before it the grants counted in `least` cannot have expired.
    floor: Nanos,
    /// A floor that binds the service from a time on: that of the answer of a renewal.
    renewed: Option<(Nanos, Nanos)>,
    /// After it the grants counted in `most` have certainly expired.
    ceiling: Nanos,
    /// The lease of the last grant.
    length: Option<Nanos>,
    /// The mode of the grants; who holds in two modes has two counts, which nobody can tell apart.
    mode: Option<Mode>,
    is_mixed: bool,
    /// The answered operation that ends last, and where its standing is.
    busy: Option<Busy>,
}

#[derive(Clone, Copy)]
struct Busy {
    until: Nanos,
    process: u64,
    standing: usize,
}

impl Ledger {
    /// An acquire or a release.
    fn book(&mut self, id: OpId, operation: &Operation) {
        let account = self
            .accounts
            .entry((operation.key, operation.owner))
            .or_default();
        match (operation.action, operation.outcome, operation.answered()) {
            (_, Outcome::Unknown, _) => {
                if let Some(busy) = account.meets(operation) {
                    self.standings[busy.standing].tangle();
                }
                account.doubt(operation);
            }
            (Action::Acquire, Outcome::Ok, Some(answered))
            | (Action::Release, Outcome::Ok | Outcome::NotOwner, Some(answered)) => {
                account.pass(operation, answered);
                let last = (operation.key, operation.owner, answered);
                let told = self.notices.partition_point(|notice| *notice <= last);
                if let Some(&(key, owner, time)) = told.checked_sub(1).map(|at| &self.notices[at])
                    && (key, owner) == (operation.key, operation.owner)
                    && account.busy.is_none_or(|busy| busy.until <= time)
                {
                    account.least = 0;
                }
                let mut standing = account.standing(id);
                account.apply(operation, answered, standing, self.drift);
                if let Some(busy) = account.meets(operation) {
                    self.standings[busy.standing].tangle();
                    standing.tangle();
                    account.least = 0;
                }
                if account.busy.is_none_or(|busy| busy.until <= answered) {
                    account.busy = Some(Busy {
                        until: answered,
                        process: operation.process,
                        standing: self.standings.len(),
                    });
                }
                self.standings.push(standing);
            }
            // A refused try changes nothing, and what failed never executed.
            (_, Outcome::Ok | Outcome::Refused | Outcome::NotOwner | Outcome::Failed, _) => {}
        }
    }

    /// A renewal changes no count, only how long it lasts.
    fn renew(&mut self, renewal: &Operation) {
        let key = (renewal.key, renewal.owner);
        let Some(account) = self.accounts.get_mut(&key) else {
            return;
        };
        match (renewal.outcome, renewal.answered()) {
            (Outcome::Ok, Some(answered)) => {
                account.expire(renewal, answered);
                let length = renewal.lease.or(account.length);
                let lease = Lease::granted(renewal.invoked, answered, length, self.drift);
                account.ceiling = account.ceiling.max(lease.ceiling);
                account.renewed = Some((answered, lease.floor));
            }
            (Outcome::NotOwner, _) => account.least = 0,
            (Outcome::Unknown, _) => account.ceiling = Nanos::MAX,
            (Outcome::Ok | Outcome::Refused | Outcome::Failed, _) => {}
        }
    }
}

impl Account {
    /// The operation under way when `next` was sent. One process does one thing after the other;
    /// between two, a tie counts as concurrent.
    fn meets(&self, next: &Operation) -> Option<Busy> {
        self.busy.filter(|busy| {
            let tie = next.invoked == busy.until && next.process != busy.process;
            next.invoked < busy.until || tie
        })
    }

    fn doubt(&mut self, operation: &Operation) {
        self.mix(operation);
        if operation.action == Action::Acquire {
            self.phantoms += 1;
            // It may be a grant to the holder, which extends the lease.
            self.ceiling = Nanos::MAX;
        } else {
            self.doubts += 1;
        }
    }

    /// Forgets what may have expired by the answer of `operation`.
    fn expire(&mut self, operation: &Operation, answered: Nanos) {
        if let Some((_, floor)) = self
            .renewed
            .take_if(|(since, _)| *since < operation.invoked)
        {
            self.floor = self.floor.max(floor);
        }
        if answered >= self.floor {
            self.least = 0;
        }
    }

    /// Lets time pass up to `operation`.
    fn pass(&mut self, operation: &Operation, answered: Nanos) {
        self.expire(operation, answered);
        if operation.invoked > self.ceiling {
            self.most = 0;
        }
        if self.least == 0 && self.most == 0 && self.phantoms == 0 {
            self.mode = None;
            self.is_mixed = false;
        }
        self.mix(operation);
    }

    /// Mixes the counts of both modes: an owner that asks for one mode after the other may have two
    /// counts, and so may one that gives back another mode than it asked for.
    fn mix(&mut self, operation: &Operation) {
        let is_other = |mode: Mode| mode != operation.mode && !operation.is_vague;
        self.is_mixed |= self.mode.is_some_and(is_other);
        if operation.action == Action::Acquire {
            self.mode = Some(operation.mode);
        }
    }

    fn standing(&self, op: OpId) -> Standing {
        let known = if self.is_mixed { 0 } else { self.least };
        Standing {
            op,
            least: known.saturating_sub(self.doubts),
            most: self.most.saturating_add(self.phantoms),
        }
    }

    fn apply(&mut self, operation: &Operation, answered: Nanos, before: Standing, drift: Drift) {
        match (operation.action, operation.outcome) {
            (Action::Acquire, _) => {
                let lease = Lease::granted(operation.asked(), answered, operation.lease, drift);
                let nested = before.least > 0;
                self.floor = if nested {
                    self.floor.max(lease.floor)
                } else {
                    lease.floor
                };
                self.ceiling = self.ceiling.max(lease.ceiling);
                self.length = operation.lease;
                self.least = self.least.saturating_add(1);
                self.most = self.most.saturating_add(1);
            }
            (_, Outcome::Ok) => {
                if self.most == 0 {
                    self.phantoms = self.phantoms.saturating_sub(1);
                }
                self.least = self.least.saturating_sub(1);
                self.most = self.most.saturating_sub(1);
                // Who gives back one of several grants may have the others extended by it.
                if self.most > 0 {
                    let lease = Lease::granted(answered, answered, self.length, drift);
                    self.ceiling = self.ceiling.max(lease.ceiling);
                }
            }
            (_, _) => self.least = 0,
        }
        // What the reply says of the count is believed from here on, where it excuses more.
        if let (Outcome::Ok, Some(count)) = (operation.outcome, operation.count) {
            self.least = self.least.min(count);
            self.most = self.most.max(count);
        }
    }
}

impl Standing {
    /// Nothing is known.
    fn tangle(&mut self) {
        self.least = 0;
        self.most = u32::MAX;
    }
}
