//! A resource that compares fencing tokens.
//!
//! Speaks where two holders overlap and both grants carry a token that grows: the resource could
//! have told the stale holder by it. It does not undo the overlap; it keeps the harm away.

use lockstorm_checker::Property;

use super::scene::{Remedy, Scene};

const SPEAKS_OF: &[Property] = &[
    Property::MutualExclusion,
    Property::LeaseOverrun,
    Property::GuardedResource,
];

pub(super) fn remedy(scene: &Scene) -> Option<Remedy> {
    if !scene.tells_of(SPEAKS_OF) {
        return None;
    }
    let (first, last) = (scene.first()?, scene.last()?);
    let (old, new) = (first.token?, last.token?);
    // Zero is how an unknown token is written.
    if old == 0 || old >= new {
        return None;
    }
    // Of damage that was done, only what the older token did after the newer one was shown.
    let is_done = scene.tells_of(&[Property::GuardedResource]);
    if is_done && !scene.comes_late(first, last) {
        return None;
    }
    Some(Remedy {
        sentence: format!(
            "A check of the fencing token at the resource, if it makes none, keeps the harm away, \
             though not the overlap: {} has token {new}, so nothing of {} with token {old} is \
             accepted after it.",
            last.client, first.client
        ),
        evidence: vec![first.op_acquire, last.op_acquire],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::RunRecord;
    use crate::sample;

    fn with_tokens(tokens: [Option<u64>; 2]) -> RunRecord {
        let mut run = sample::failover_run();
        let judgement = run.analysis.properties.get_mut(&Property::MutualExclusion);
        let holders = &mut judgement.unwrap().witnesses[0].holders;
        holders[0].token = tokens[0];
        holders[1].token = tokens[1];
        run
    }

    fn said(run: &RunRecord) -> Option<Remedy> {
        let witness = &run.analysis.properties[&Property::MutualExclusion].witnesses[0];
        remedy(&Scene::of_run(run, witness))
    }

    #[test]
    fn growing_tokens_would_have_told_the_stale_holder() {
        insta::assert_snapshot!(said(&with_tokens([Some(33), Some(34)])).unwrap().sentence);
    }

    #[test]
    fn tokens_that_do_not_grow_or_are_unknown_help_nobody() {
        let tokens = [
            [Some(34), Some(34)],
            [Some(34), Some(33)],
            [Some(0), Some(33)],
            [None, Some(34)],
            [Some(33), None],
        ];
        for tokens in tokens {
            assert_eq!(said(&with_tokens(tokens)), None, "{tokens:?}");
        }
    }

    #[test]
    fn a_lost_lock_alone_has_nobody_to_be_fenced_off() {
        let run = sample::failover_run();
        let mut witness = run.analysis.properties[&Property::LostLock].witnesses[0].clone();
        witness.holders[0].token = Some(33);
        assert_eq!(remedy(&Scene::of_run(&run, &witness)), None);
    }
}
