//! Tells whether the holds of one owner can be told apart.
//!
//! Permits and read locks can be held several times by one owner. With leases nobody can tell which
//! of them ends: such a history is not judged. A witness that leaves releases out is no such
//! history; of it this is not asked.

use std::collections::HashMap;

use super::fit::Unfit;
use crate::history::{Mode, Nanos};
use crate::operations::{Action, Digest, Drift, KeyId, Lease, OpId, Operation, Outcome, OwnerId};
use lockstorm_linearizability::ModelName;

/// Permits that an owner may have of a lock that can be held several times.
#[derive(Clone, Copy)]
struct Out {
    permits: u32,
    ceiling: Nanos,
    is_leased: bool,
}

/// Permits that may be out, by lock, owner and mode.
#[derive(Default)]
struct Loans(HashMap<(KeyId, OwnerId, Mode), Out>);

/// Asks it of these operations.
///
/// # Errors
/// When an owner may have held one lock twice, with a lease.
pub(crate) fn told_apart(
    digest: &Digest,
    operations: impl Iterator<Item = OpId>,
    model: ModelName,
    drift: Drift,
) -> Result<(), Unfit> {
    match model {
        ModelName::Semaphore { .. } | ModelName::ReadWrite => {}
        ModelName::Mutex
        | ModelName::OwnerAware
        | ModelName::Reentrant { .. }
        | ModelName::Fenced
        | ModelName::ReentrantFenced
        | ModelName::Register
        | ModelName::CasRegister { .. }
        | ModelName::Append => return Ok(()),
    }
    let mut ids: Vec<OpId> = operations.collect();
    ids.sort_by_key(|&id| (digest.operation(id).invoked, id));
    let mut loans = Loans::default();
    for operation in ids.into_iter().map(|id| digest.operation(id)) {
        match (operation.action, operation.outcome) {
            (Action::Acquire, Outcome::Ok | Outcome::Unknown) => {
                loans.acquire(digest, operation, drift)?;
            }
            (Action::Release, Outcome::Ok) => loans.release(operation),
            (
                Action::Acquire
                | Action::Renew
                | Action::Release
                | Action::Resource(_)
                | Action::Other,
                _,
            ) => {}
        }
    }
    Ok(())
}

impl Loans {
    fn acquire(&mut self, digest: &Digest, acquire: &Operation, drift: Drift) -> Result<(), Unfit> {
        let answered = acquire.answered().unwrap_or(Nanos::MAX);
        let length = acquire.lease;
        let mut out = Out {
            permits: acquire.permits,
            ceiling: Lease::granted(acquire.asked(), answered, length, drift).ceiling,
            is_leased: length.is_some(),
        };
        let holder = (acquire.key, acquire.owner, acquire.mode);
        let before = self.0.get(&holder);
        let beside = |before: &&Out| before.permits > 0 && before.ceiling >= acquire.invoked;
        if let Some(before) = before.filter(beside) {
            if before.is_leased || out.is_leased {
                let owner = digest.owner(acquire.owner);
                return Err(Unfit::Leases(crate::text::name(owner)));
            }
            out.permits = out.permits.saturating_add(before.permits);
        }
        self.0.insert(holder, out);
        Ok(())
    }

    fn release(&mut self, release: &Operation) {
        for mode in [Mode::Write, Mode::Read] {
            if let Some(out) = self.0.get_mut(&(release.key, release.owner, mode)) {
                out.permits = out.permits.saturating_sub(release.permits);
            }
        }
    }
}
