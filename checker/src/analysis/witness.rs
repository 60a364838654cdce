//! A finding → a witness: the claim, who was involved, and the story.

use std::collections::BTreeSet;

use super::basis::basis;
use super::blame::blamed;
use crate::case::{Case, Finding, faults};
use crate::history::Nanos;
use crate::holds::Hold;
use crate::operations::Interval;
use crate::property::rule;
use crate::story::Teller;
use crate::verdict::{Holder, Step, Witness};

/// Faults told of in one story. Who needs more reads the table of faults.
const FAULTS_MAX: usize = 12;

/// Puts a finding into the form of the report.
pub(crate) fn witness(case: &Case, finding: &Finding) -> Witness {
    let interval = case.shown(finding.interval);
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
        story: story(case, finding, interval, scene),
    }
}

/// The story of a finding. `interval` is that of the witness, `scene` begins with its first
/// acquire.
fn story(case: &Case, finding: &Finding, interval: Interval, scene: Interval) -> Vec<Step> {
    let until = rule(finding.property).contradiction_at(interval);
    let since = rule(finding.property).told_since(case, finding, interval);
    let scene = Interval::new(scene.start.min(since), scene.end);
    let mut teller = Teller::new(case, finding, until);
    for &at in &finding.holds {
        teller.hold(&case.holds[at]);
    }
    let active = faults::active(case.faults, scene);
    for fault in active.into_iter().take(FAULTS_MAX) {
        teller.fault(fault);
    }
    rule(finding.property).narrate(&mut teller, interval);
    teller.routes(scene);
    teller.roles(scene);
    teller.expired(scene);
    teller.stalls(scene);
    teller.views(scene);
    teller.commands(scene);
    let claim = rule(finding.property).claim(case, finding, interval);
    teller.tell(claim, &basis(case, finding))
}

fn holder(case: &Case, hold: &Hold) -> Holder {
    let digest = case.digest;
    let release = hold.release.map(|id| digest.operation(id));
    let lease = hold.own_lease(digest);
    let leased = |end: Nanos| (end < Nanos::MAX).then_some(end);
    Holder {
        client: digest.owner(hold.owner).to_owned(),
        op_acquire: digest.operation(hold.acquire).invoke,
        op_release: release.map(|release| release.invoke),
        acquire_invoked: hold.hull.start,
        granted: hold.core.start,
        release_invoked: release.map(|release| release.invoked),
        told_lost: leased(hold.told_lost).filter(|&told| told < hold.core.end),
        by: digest.givers(digest.operation(hold.acquire)).cloned(),
        token: hold.token,
        lease_floor: leased(lease.floor),
        lease_ceiling: leased(lease.ceiling),
    }
}
