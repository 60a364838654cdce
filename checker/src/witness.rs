//! A finding → a witness: the claim, who was involved, and the story.

use std::collections::BTreeSet;

use crate::blame::blamed;
use crate::case::{Case, Finding};
use crate::faults;
use crate::history::Nanos;
use crate::hold::Hold;
use crate::interval::Interval;
use crate::operation::{Action, OpId};
use crate::property::rule;
use crate::story;
use crate::verdict::{Holder, Witness};

/// Puts a finding into the form of the report.
pub(crate) fn witness(case: &Case, finding: &Finding) -> Witness {
    let interval = shown(case, finding.interval);
    let first = finding
        .holds
        .iter()
        .map(|&at| case.holds[at].hull.start)
        .chain(
            finding
                .operations
                .iter()
                .map(|&id| case.digest.operation(id).invoked),
        )
        .min()
        .unwrap_or(interval.start);
    let scene = Interval::new(first.min(interval.start), interval.end);
    let active = faults::active(case.faults, scene);
    let kinds: BTreeSet<&str> = active.iter().map(|fault| fault.kind.as_str()).collect();
    let kinds: Vec<&str> = kinds.into_iter().collect();
    let during = if kinds.is_empty() {
        "no fault".to_owned()
    } else {
        kinds.join("+")
    };
    let certainty = if finding.certain {
        "certain"
    } else {
        "uncertain"
    };
    let kind = rule(finding.property).kind(case, finding);
    let kind = kind.map(|kind| format!(" ({kind})")).unwrap_or_default();
    let property = finding.property.name();
    Witness {
        property: finding.property,
        signature: format!("{property}{kind}, {during}, {certainty}"),
        lock_key: case.digest.key(finding.key).to_owned(),
        claim: rule(finding.property).claim(case, finding, interval),
        interval: (interval.start, interval.end),
        certain: finding.certain,
        holders: finding
            .holds
            .iter()
            .map(|&at| holder(case, &case.holds[at]))
            .collect(),
        blamed: blamed(case, finding)
            .into_iter()
            .map(|at| case.faults[at].id.clone())
            .collect(),
        faults_active: active.iter().map(|fault| fault.id.clone()).collect(),
        story: story::story(case, finding, interval, scene),
    }
}

/// An interval as people see it: what never ended, ends with the history.
pub(crate) fn shown(case: &Case, interval: Interval) -> Interval {
    if interval.end < Nanos::MAX {
        return interval;
    }
    Interval::new(interval.start, case.digest.end.max(interval.start))
}

fn holder(case: &Case, hold: &Hold) -> Holder {
    let digest = case.digest;
    let release = hold.release.map(|id| digest.operation(id));
    let leased = |end: Nanos| (end < Nanos::MAX).then_some(end);
    Holder {
        client: digest.owner(hold.owner).to_owned(),
        op_acquire: digest.operation(hold.acquire).invoke,
        op_release: release.map(|release| release.invoke),
        acquire_invoked: hold.hull.start,
        granted: hold.core.start,
        release_invoked: release.map(|release| release.invoked),
        by: digest.givers(digest.operation(hold.acquire)).cloned(),
        token: hold.token,
        lease_floor: leased(hold.lease.floor),
        lease_ceiling: leased(hold.lease.ceiling),
    }
}

/// The operations that a hold rests on, in order of invocation: its acquire, what its owner did on
/// the lock while it lasted (from the proof on, where it has one), its release. A grant that was
/// answered while it lasted is one of them though it was asked for before.
pub(crate) fn operations(case: &Case, hold: &Hold) -> Vec<OpId> {
    let bears_at = |id: OpId| case.digest.operation(id).bears_at();
    let first = hold.proof.unwrap_or(hold.acquire);
    let granted = bears_at(first);
    let last = hold.release.or(hold.denial);
    // What proves a later hold of the same owner, and all that follows, belongs to that one.
    let mut proof = case.proof_after(hold, first);
    while let Some(early) = proof.filter(|&id| bears_at(id) <= granted) {
        proof = case.proof_after(hold, early);
    }
    let proof = proof.map(bears_at);
    let own = case.operations_of(hold.owner).iter().copied();
    own.filter(|&id| {
        let operation = case.digest.operation(id);
        let at = operation.bears_at();
        let extends = matches!(operation.action, Action::Acquire | Action::Renew);
        let inside = granted <= at
            && match last {
                // A renewal that was sent before the release may be answered after it.
                Some(last) => {
                    let sent = case.digest.operation(last).invoked;
                    let is_renewal = operation.action == Action::Renew;
                    at <= bears_at(last) || is_renewal && operation.invoked < sent
                }
                None => proof.is_none_or(|proof| at < proof),
            };
        let ended = hold.anew.filter(|_| operation.action == Action::Release);
        let marks = [Some(hold.acquire), hold.proof, hold.release, ended].contains(&Some(id));
        // Who asks for the other mode may give up this one.
        let bears = operation.action == Action::Acquire || case.concerns(operation, hold);
        operation.key == hold.key && (marks || inside && extends && bears)
    })
    .collect()
}
