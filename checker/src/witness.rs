//! A finding → a witness: the claim, who was involved, and the story.

use std::collections::BTreeSet;

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
        faults_active: active.iter().map(|fault| fault.id.clone()).collect(),
        story: story::story(case, finding, interval, scene),
    }
}

/// An interval as people see it: what never ended, ends with the history.
fn shown(case: &Case, interval: Interval) -> Interval {
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
        token: hold.token,
        lease_floor: leased(hold.lease.floor),
        lease_ceiling: leased(hold.lease.ceiling),
    }
}

/// The operations that a hold rests on: its acquire, what its owner did on the lock while it
/// lasted (from the proof on, where it has one), its release.
pub(crate) fn operations(case: &Case, hold: &Hold) -> Vec<OpId> {
    let last = hold.release.or(hold.denial);
    // What proves a later hold of the same owner, and all that follows, belongs to that one.
    let proof = case.proof_after(hold, hold.proof.unwrap_or(hold.acquire));
    let next = |id| match (last, proof) {
        (Some(last), _) => id <= last,
        (None, Some(proof)) => id < proof,
        (None, None) => true,
    };
    let own = case.operations_of(hold.owner);
    own[own.partition_point(|&id| id < hold.acquire)..]
        .iter()
        .copied()
        .take_while(|&id| next(id))
        .filter(|&id| {
            let operation = case.digest.operation(id);
            let extends = matches!(operation.action, Action::Acquire | Action::Renew);
            let marks = [hold.proof, hold.release].contains(&Some(id));
            let inside = id == hold.acquire || hold.proof.is_none_or(|proof| id >= proof);
            operation.key == hold.key && inside && (extends || marks)
        })
        .collect()
}
