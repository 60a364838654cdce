//! Evidence of single operations on a hold: that it was there, that it was gone, or neither.
//!
//! For: the rules by which the holds take notice of answers. Not for: finding the hold that an
//! operation is about.

use super::hold::Hold;
use crate::history::Nanos;
use crate::operations::{Digest, Drift, Lease, OpId, Operation, Outcome};

/// Tells whether a release may yet take effect, on whatever its owner then holds: one without an
/// answer that names no token.
pub(crate) fn is_indeterminate_release(release: &Operation) -> bool {
    release.outcome == Outcome::Unknown && release.token.is_none()
}

/// A partial release may extend the lease of what it leaves; one without an answer, at any time.
pub(crate) fn outlive(hold: &mut Hold, release: &Operation, length: Option<Nanos>, drift: Drift) {
    let extended = release.answered().map_or(Lease::NONE, |answered| {
        Lease::granted(answered, answered, length, drift)
    });
    hold.lease = hold.lease.reaching(extended.ceiling);
}

/// A hold that an earlier release may end was still there when this was sent.
pub(crate) fn show(hold: &mut Hold, success: &Operation) {
    if hold.shown < Nanos::MAX {
        hold.shown = hold.shown.max(success.invoked);
    }
}

/// A release that may have taken effect was under way when a hold was denied: the denial may be its
/// work, and accuses nobody.
pub(crate) fn excuse(hold: &mut Hold, release: &Operation, digest: &Digest) {
    let answered = hold
        .denial
        .and_then(|denial| digest.operation(denial).answered());
    let effective = matches!(release.outcome, Outcome::Ok | Outcome::Unknown);
    if effective && answered.is_some_and(|answered| release.invoked <= answered) {
        hold.denial = None;
    }
}

/// Tells whether an operation was sent when its owner knew of the grant.
pub(crate) fn is_after_grant(hold: &Hold, operation: &Operation, digest: &Digest) -> bool {
    let granted = hold.proof.unwrap_or(hold.acquire);
    digest.operation(granted).precedes(operation)
}

/// Notes that a release of a hold, sent after its grant, was denied. Of more permits than it has, a
/// release is denied with reason.
pub(crate) fn deny_release(hold: &mut Hold, id: OpId, release: &Operation, digest: &Digest) {
    if let (Outcome::NotOwner, Some(answered)) = (release.outcome, release.answered())
        && is_after_grant(hold, release, digest)
        && release.permits <= hold.permits
    {
        deny(hold, id, answered);
    }
}

/// Notes that the service denied a hold inside its lease, unless an earlier release may have ended
/// it. Later successes do not count: when the service answered, it had not given them.
pub(crate) fn deny(hold: &mut Hold, id: OpId, answered: Nanos) {
    if answered < hold.lease.floor && hold.shown == Nanos::MAX {
        hold.denial = hold.denial.or(Some(id));
    }
}
