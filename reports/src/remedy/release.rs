//! A release that asks who calls, in one step with the deleting.
//!
//! Speaks where somebody who is none of the holders was told that its release took effect, while
//! one of them held: of ownership that is the violation itself. Only of locks that are known to
//! release without a look at the owner: one that compares already has this remedy. And only where
//! no server can have forgotten the lock by a fault.

use lockstorm_checker::Property;
use lockstorm_checker::verdict::{Step, StepKind};
use lockstorm_scenarios::LockFeature;

use super::scene::{Remedy, Scene};

const WRONGED_AT_THE_RELEASE: &[Property] = &[Property::Ownership];
const WRONGED_LATER: &[Property] = &[Property::MutualExclusion, Property::LostLock];

pub(super) fn remedy(scene: &Scene) -> Option<Remedy> {
    let is_blind = scene
        .lock_kind()
        .is_some_and(|lock| lock.has(LockFeature::BlindRelease));
    if !is_blind || !scene.forgot_only_by(|_| false) {
        return None;
    }
    let witness = scene.witness;
    let is_foreign = |step: &&Step| {
        let mut holders = witness.holders.iter();
        let holds = holders.any(|holder| holder.client == step.actor);
        step.kind == StepKind::Release && step.certain && !holds && step.t <= witness.interval.0
    };
    let mut releases = witness.story.iter();
    let release = if scene.tells_of(WRONGED_AT_THE_RELEASE) {
        releases.rfind(|step| step.kind == StepKind::Release)?
    } else if scene.tells_of(WRONGED_LATER) {
        releases.find(is_foreign)?
    } else {
        return None;
    };
    Some(Remedy {
        sentence: format!(
            "A release that compares the owner and deletes in one step (a script): step {}, by \
             {}, would have been refused.",
            release.n, release.actor
        ),
        evidence: release.evidence.clone(),
    })
}

#[cfg(test)]
mod tests {
    use lockstorm_checker::Nanos;
    use lockstorm_checker::verdict::Witness;

    use super::*;
    use crate::sample;

    fn witness_with_release_by(actor: &str, ms: u64) -> Witness {
        let run = sample::failover_run();
        let mut witness = run.analysis.properties[&Property::MutualExclusion].witnesses[0].clone();
        let mut release = witness.story[9].clone();
        actor.clone_into(&mut release.actor);
        release.t = Nanos::from_millis(ms);
        release.n = 5;
        witness.story.insert(4, release);
        witness
    }

    fn said(witness: &Witness) -> Option<Remedy> {
        said_of("plain-del", witness)
    }

    fn said_of(lock: &str, witness: &Witness) -> Option<Remedy> {
        let mut run = sample::failover_run();
        lock.clone_into(&mut run.labels.lock);
        run.analysis.faults.truncate(2);
        remedy(&Scene::of_run(&run, witness))
    }

    #[test]
    fn a_lock_that_compares_the_owner_is_not_told_to() {
        let witness = witness_with_release_by("c", 1_200);
        assert!(said_of("setnx + renewal", &witness).is_some());
        for lock in ["token", "redisson-fair 3.17", "my-library"] {
            assert_eq!(said_of(lock, &witness), None, "{lock}");
        }
    }

    #[test]
    fn a_release_by_a_stranger_should_have_been_refused() {
        let remedy = said(&witness_with_release_by("c", 1_200)).unwrap();
        insta::assert_snapshot!(remedy.sentence);
        assert_eq!(remedy.evidence, [16, 17]);
    }

    #[test]
    fn a_release_by_a_holder_or_after_the_fact_is_none_of_this() {
        assert_eq!(said(&witness_with_release_by("a", 1_200)), None);
        assert_eq!(said(&witness_with_release_by("c", 1_700)), None);
        let run = sample::failover_run();
        let judgement = &run.analysis.properties[&Property::MutualExclusion];
        assert_eq!(said(&judgement.witnesses[0]), None);
    }
}
