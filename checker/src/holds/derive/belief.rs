//! Up to when an owner is known to have taken itself for the holder.
//!
//! A release says it exactly: its owner acted as holder until it sent it. Where none was sent, the
//! owner may have left long before the history says anything: who lets leases run out and asks
//! again when there is work records no release at all. Inside its lease it may go by that; later
//! only what it did *as holder* shows what it believed: a renewal, a use of the resource, a note
//! that it is alive as holder. The one exception is an owner that releases elsewhere and sent none
//! for this hold, and did not ask again either: it is one that releases what it leaves, and has not
//! left while it lives.

use crate::history::{Mode, Nanos};
use crate::holds::Hold;
use crate::operations::{Action, Digest, KeyId, OwnerId};

/// Sets up to when the owners of the holds of `key` are known to have acted.
pub(super) fn settle(digest: &Digest, key: KeyId, holds: &mut [Hold]) {
    if !holds.iter().any(|hold| is_untold(digest, hold)) {
        return;
    }
    let signs = signs(digest, key);
    for hold in holds {
        if is_untold(digest, hold) {
            let shown = last(&signs, digest, hold).max(hold.lease.floor);
            hold.acting = hold.acting.min(shown);
        }
    }
}

/// Tells whether no release says when its owner left.
fn is_untold(digest: &Digest, hold: &Hold) -> bool {
    let by_release = |id| digest.operation(id).action == Action::Release;
    let is_told = hold.release.or(hold.anew).is_some_and(by_release);
    let never_left = hold.anew.is_none() && digest.releases(hold.owner);
    // A session has no end that its owner could count on to leave the lock behind.
    let is_of_session = digest.operation(hold.acquire).is_of_session;
    hold.is_leased() && !is_of_session && !is_told && !never_left
}

/// Signs that an owner went on as holder, in order of owner, mode and time.
type Signs = Vec<(OwnerId, bool, Nanos)>;

fn signs(digest: &Digest, key: KeyId) -> Signs {
    let operations = digest.operations_on(key).map(|(_, operation)| operation);
    let as_holder = operations.filter(|operation| {
        let is_of_holder = matches!(
            operation.action,
            Action::Renew | Action::Release | Action::Resource(_)
        );
        is_of_holder && !operation.is_vague
    });
    let done = as_holder.map(|operation| {
        let reads = reads(digest, operation.mode);
        (operation.owner, reads, operation.invoked)
    });
    let noted = digest.acting.iter().filter(|note| note.key == key);
    let noted = noted.flat_map(|note| [false, true].map(|reads| (note.owner, reads, note.time)));
    let mut signs: Signs = done.chain(noted).collect();
    signs.sort_unstable();
    signs
}

/// The last sign up to the end of a hold; zero if there is none.
fn last(signs: &Signs, digest: &Digest, hold: &Hold) -> Nanos {
    let reads = reads(digest, hold.mode);
    let end = (hold.owner, reads, hold.core.end);
    let after = signs.partition_point(|&sign| sign <= end);
    let sign = after.checked_sub(1).map(|at| signs[at]);
    let own = sign.filter(|&(owner, mode, _)| (owner, mode) == (hold.owner, reads));
    own.map_or(Nanos(0), |(_, _, time)| time)
}

/// Tells whether it is a reader's, where that makes a difference.
fn reads(digest: &Digest, mode: Mode) -> bool {
    digest.has_two_modes() && mode == Mode::Read
}
