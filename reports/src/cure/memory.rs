//! A server that refuses to write rather than drop a lock.
//!
//! Speaks where a probe saw, between the first grant and the violation, that the key of this lock
//! was evicted.

use lockstorm_checker::Property;

use super::scene::{Cure, Scene};

const SPEAKS_OF: &[Property] = &[Property::MutualExclusion, Property::LostLock];
const EVICTIONS: &[&str] = &["evict"];

pub(super) fn cure(scene: &Scene) -> Option<Cure> {
    if !scene.tells_of(SPEAKS_OF) {
        return None;
    }
    let gone = format!("'{}' is gone", scene.witness.lock_key);
    let evictions = scene.effects_between(EVICTIONS);
    let eviction = evictions.iter().find(|e| e.evidence.starts_with(&gone))?;
    Some(Cure {
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

    fn evicted(evidence: &str) -> RunRecord {
        let mut run = sample::failover_run();
        run.analysis.faults[1].kind = "evict".to_owned();
        run.analysis.faults[1].target = "orders on primary".to_owned();
        run.analysis.faults[1].stages[2].evidence = Some(evidence.to_owned());
        run
    }

    fn said(run: &RunRecord) -> Option<Cure> {
        let witness = &run.analysis.properties[&Property::LostLock].witnesses[0];
        cure(&Scene::of_run(run, witness))
    }

    #[test]
    fn an_evicted_lock_should_not_have_been() {
        let run = evicted("'orders' is gone; keys evicted beside 16 of ours: 1");
        insta::assert_snapshot!(said(&run).unwrap().sentence);
    }

    #[test]
    fn the_eviction_of_another_key_proves_nothing() {
        assert_eq!(said(&evicted("'carts' is gone; keys evicted: 1")), None);
        assert_eq!(said(&sample::failover_run()), None);
    }
}
