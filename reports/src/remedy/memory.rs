//! A server that refuses to write rather than drop a lock.
//!
//! Speaks where a probe saw, between the first grant and the violation, that the key of this lock
//! was evicted, and no server can have forgotten the lock by anything else.

use lockstorm_checker::Property;
use lockstorm_checker::history::FaultTarget;
use lockstorm_checker::verdict::FaultSummary;
use lockstorm_scenarios::FaultKind;

use super::scene::{Remedy, Scene};

const SPEAKS_OF: &[Property] = &[Property::MutualExclusion, Property::LostLock];

pub(super) fn remedy(scene: &Scene) -> Option<Remedy> {
    if !scene.tells_of(SPEAKS_OF) {
        return None;
    }
    let is_eviction = |fault: &FaultSummary| {
        let is_key = match &fault.target {
            FaultTarget::Key { key, .. } => **key == *scene.witness.lock_key,
            FaultTarget::Node(_)
            | FaultTarget::Client(_)
            | FaultTarget::Link { .. }
            | FaultTarget::Sides(_)
            | FaultTarget::Connections { .. }
            | FaultTarget::Words(_) => false,
        };
        is_key && FaultKind::read(&fault.kind) == Some(FaultKind::Evict)
    };
    let evictions = scene.effects_between(is_eviction);
    let eviction = evictions.first()?;
    if !scene.forgot_only_by(is_eviction) {
        return None;
    }
    Some(Remedy {
        sentence: format!(
            "A server that refuses writes when its memory is full (maxmemory-policy noeviction): \
             the lock was evicted, {} ({}).",
            eviction.fault.target, eviction.fault.id
        ),
        evidence: vec![eviction.event],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::RunRecord;
    use crate::sample;

    fn evicted(key: &str) -> RunRecord {
        let mut run = sample::failover_run();
        run.analysis.faults.truncate(2);
        let target = format!("{key} on primary");
        sample::turn(&mut run.analysis.faults[1], "evict", &target);
        run
    }

    fn said(run: &RunRecord) -> Option<Remedy> {
        let witness = &run.analysis.properties[&Property::LostLock].witnesses[0];
        remedy(&Scene::of_run(run, witness))
    }

    #[test]
    fn an_evicted_lock_should_not_have_been() {
        let run = evicted("orders");
        insta::assert_snapshot!(said(&run).unwrap().sentence);
    }

    #[test]
    fn a_lock_that_a_failover_may_have_lost_has_no_remedy_here() {
        let mut run = evicted("orders");
        let promotion = sample::failover_run().analysis.faults.remove(2);
        run.analysis.faults.push(promotion);
        assert_eq!(said(&run), None);
    }

    #[test]
    fn the_eviction_of_another_key_proves_nothing() {
        assert_eq!(said(&evicted("carts")), None);
        assert_eq!(said(&sample::failover_run()), None);
    }
}
