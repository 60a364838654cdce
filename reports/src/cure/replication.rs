//! Waiting for a replica before a grant counts.
//!
//! Speaks where a replica took the primary's place after the grant and before the violation, and
//! the link to that replica was held up when the grant was answered: no acknowledgement can have
//! come. A link that passed proves nothing, however late the replica was.

use lockstorm_checker::Property;

use super::scene::{Cure, Effect, Scene};
use crate::model::Node;

const SPEAKS_OF: &[Property] = &[Property::MutualExclusion, Property::LostLock];
const PROMOTIONS: &[&str] = &["promote", "failover"];
const OF_LINKS: &[&str] = &["cut", "partition"];

pub(super) fn cure(scene: &Scene) -> Option<Cure> {
    if !scene.tells_of(SPEAKS_OF) {
        return None;
    }
    let first = scene.first()?;
    let promotions = scene.effects_between(PROMOTIONS);
    let promoted = promotions.first()?;
    let replica = promoted.fault.target.as_str();
    let links = scene.effects(OF_LINKS);
    let held_up = links
        .iter()
        .find(|link| link.lasts_at(first.acquire_invoked) && parts(link, replica, scene.nodes))?;
    Some(Cure {
        sentence: format!(
            "Waiting for an acknowledgement of {replica} (WAIT) before the grant counts: when {} \
             was granted the lock, {} {} {} kept it from {replica}, which then took the primary's \
             place ({}).",
            first.client,
            held_up.fault.id,
            held_up.fault.kind,
            held_up.fault.target,
            promoted.fault.id,
        ),
        evidence: vec![held_up.event, promoted.event],
    })
}

/// Whether a fault of links parts `replica` from another server.
fn parts(link: &Effect, replica: &str, nodes: &[Node]) -> bool {
    let target = link.fault.target.as_str();
    let is_server = |word: &str| {
        let named = nodes.iter().any(|node| node.name == word);
        matches!(word, "primary" | "nodes") || named
    };
    if let Some((from, to)) = target.split_once('→') {
        return is_server(from) && from != replica && (to == replica || to == "replicas");
    }
    let sides: Vec<Vec<&str>> = target
        .split(" | ")
        .map(|side| side.split(',').collect())
        .collect();
    let here = sides.iter().position(|side| side.contains(&replica));
    let primary = sides.iter().position(|side| side.contains(&"primary"));
    matches!((here, primary), (Some(here), Some(primary)) if here != primary)
}

#[cfg(test)]
mod tests {
    use lockstorm_checker::Nanos;

    use super::*;
    use crate::model::RunRecord;
    use crate::sample;

    fn said(run: &RunRecord) -> Option<Cure> {
        let witness = &run.analysis.properties[&Property::MutualExclusion].witnesses[0];
        cure(&Scene::of_run(run, witness))
    }

    #[test]
    fn a_grant_over_a_cut_link_to_the_next_primary_should_have_waited() {
        let cure = said(&sample::failover_run()).unwrap();
        insta::assert_snapshot!(cure.sentence);
        assert_eq!(
            cure.evidence,
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
    fn a_cut_between_others_proves_nothing() {
        for target in ["clients→primary", "primary→replica-2", "a | nodes"] {
            let mut run = sample::failover_run();
            target.clone_into(&mut run.analysis.faults[0].target);
            assert_eq!(said(&run), None, "{target}");
        }
    }

    #[test]
    fn a_partition_parts_as_a_cut_does() {
        let mut run = sample::failover_run();
        run.analysis.faults[0].kind = "partition".to_owned();
        run.analysis.faults[0].target = "primary | replica-2,replica-1".to_owned();
        assert!(said(&run).is_some());
    }
}
