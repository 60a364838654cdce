//! Waiting for a replica before a grant counts.
//!
//! Speaks where a replica took the primary's place after the grant and before the violation, and
//! the link to that replica was held up from the grant on until the primary was gone: no
//! acknowledgement can have come. A link that passed proves nothing, however late the replica was.

use lockstorm_checker::Property;
use lockstorm_checker::history::FaultClass;
use lockstorm_checker::verdict::FaultSummary;
use lockstorm_scenarios::LockFeature;

use super::scene::{Remedy, Scene};
use crate::hit::promoted;

const SPEAKS_OF: &[Property] = &[Property::MutualExclusion, Property::LostLock];

pub(super) fn remedy(scene: &Scene) -> Option<Remedy> {
    if !scene.tells_of(SPEAKS_OF) {
        return None;
    }
    let first = scene.first()?;
    let is_promotion = |fault: &FaultSummary| promoted(fault).is_some();
    let promotions = scene.effects_between(is_promotion);
    let promotion = promotions.first()?;
    let is_failover = |fault: &FaultSummary| {
        let leads_to_it = matches!(fault.class, FaultClass::Death | FaultClass::Cut);
        leads_to_it || is_promotion(fault)
    };
    if !scene.forgot_only_by(is_failover) {
        return None;
    }
    let replica = promoted(promotion.fault)?;
    let mut nodes = scene.nodes.iter();
    let primary = nodes.find(|node| node.role == "primary");
    let primary = primary.map_or("primary", |node| node.name.as_str());
    let deaths = scene.effects(|fault| {
        fault.class == FaultClass::Death
            && fault.target.node().is_some_and(|node| **node == *primary)
    });
    let death = deaths.iter().find(|death| first.granted < death.time);
    let until = death.map_or(promotion.time, |death| promotion.time.min(death.time));
    let links = scene.effects(|fault| fault.class == FaultClass::Cut);
    let held_up = links.iter().find(|link| {
        // Where it was healed in between, the replica may have learnt of the grant.
        let lasts = link.lasts_at(first.acquire_invoked) && !link.ends_before(until);
        lasts && link.fault.target.parts(primary, replica)
    })?;
    // A lock that waits already, and was granted all the same, did not wait for this one.
    let waits = scene
        .lock_kind()
        .is_some_and(|lock| lock.has(LockFeature::ReplicaWait));
    let remedy = if waits {
        format!("Waiting for every replica, {replica} among them, before the grant counts")
    } else {
        format!("Waiting for an acknowledgement of {replica} (WAIT) before the grant counts")
    };
    Some(Remedy {
        sentence: format!(
            "{remedy}: when {} was granted the lock, {} {} {} kept it from {replica}, which then \
             took the primary's place ({}).",
            first.client,
            held_up.fault.id,
            held_up.fault.kind,
            held_up.fault.target,
            promotion.fault.id,
        ),
        evidence: vec![held_up.event, promotion.event],
    })
}

#[cfg(test)]
mod tests {
    use lockstorm_checker::Nanos;

    use super::*;
    use crate::model::RunRecord;
    use crate::sample;

    fn said(run: &RunRecord) -> Option<Remedy> {
        let witness = &run.analysis.properties[&Property::MutualExclusion].witnesses[0];
        remedy(&Scene::of_run(run, witness))
    }

    #[test]
    fn a_grant_over_a_cut_link_to_the_next_primary_should_have_waited() {
        let remedy = said(&sample::failover_run()).unwrap();
        insta::assert_snapshot!(remedy.sentence);
        assert_eq!(
            remedy.evidence,
            [3, 13],
            "the effect of the cut, and of the promotion"
        );
    }

    #[test]
    fn without_a_promotion_nothing_is_said_of_replicas() {
        let mut run = sample::failover_run();
        run.analysis.faults.retain(|fault| fault.kind != "promote");
        assert_eq!(said(&run), None);
    }

    #[test]
    fn a_link_that_passed_when_the_lock_was_granted_proves_nothing() {
        let mut run = sample::failover_run();
        run.analysis.faults[0].stages[2].time = Nanos::from_millis(1_100);
        assert_eq!(said(&run), None);
    }

    #[test]
    fn a_replica_that_may_have_learnt_of_the_grant_proves_nothing() {
        let mut run = sample::failover_run();
        run.analysis.faults[0].stages[3].time = Nanos::from_millis(1_100);
        assert_eq!(
            said(&run),
            None,
            "the link was healed before the primary died"
        );
    }

    #[test]
    fn a_cut_between_others_proves_nothing() {
        for target in ["clients→primary", "primary→replica-2", "a | nodes"] {
            let mut run = sample::failover_run();
            sample::turn(&mut run.analysis.faults[0], "cut", target);
            assert_eq!(said(&run), None, "{target}");
        }
    }

    #[test]
    fn a_partition_parts_as_a_cut_does() {
        let mut run = sample::failover_run();
        let sides = "primary | replica-2,replica-1";
        sample::turn(&mut run.analysis.faults[0], "partition", sides);
        assert!(said(&run).is_some());
    }
}
