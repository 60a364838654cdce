//! The failure of a client that a finding is about.

use super::finding::Finding;
use super::parts::Case;
use crate::operations::FailureAside;

/// The failure that a finding is about.
pub(crate) fn failure<'a>(case: &Case<'a>, finding: &Finding) -> Option<&'a FailureAside> {
    let of_call = finding
        .operation()
        .map(|id| case.digest.operation(id).owner);
    let of_hold = finding.holds.first().map(|&at| case.holds[at].owner);
    let owner = case.digest.owners.name(of_call.or(of_hold)?.0);
    let mut failures = case.digest.asides.failures.iter();
    failures.find(|failure| failure.owner == *owner && failure.time == finding.interval.end)
}
