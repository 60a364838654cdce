//! A watchdog that renews while its holder works.
//!
//! Speaks where a holder outlived its lease with no fault in its way: it never renewed, and came
//! back to release the lock itself. A holder that was paused, or whose watchdog was, is not helped
//! by one.

use lockstorm_checker::Property;
use lockstorm_checker::verdict::StepKind;

use super::scene::{Remedy, Scene};
use crate::words;

const SPEAKS_OF: &[Property] = &[Property::LeaseOverrun];
/// How the label of a lock says that it is renewed.
const RENEWAL: &str = "+ renewal";

pub(super) fn remedy(scene: &Scene) -> Option<Remedy> {
    if !scene.tells_of(SPEAKS_OF) {
        return None;
    }
    // Whether the lock of a library has one, nobody knows here.
    let is_known = scene.lock.is_none() || scene.lock_kind().is_some();
    let has_one = scene.lock.is_some_and(|label| label.contains(RENEWAL));
    if !scene.witness.faults_active.is_empty() || has_one || !is_known {
        return None;
    }
    let unless = match scene.lock {
        Some(_) => "",
        None => ", if the lock has none,",
    };
    let first = scene.first()?;
    let (ceiling, released) = (first.lease_ceiling?, first.release_invoked?);
    let renewed = |kind, actor: &str| kind == StepKind::Renew && actor == first.client;
    let mut story = scene.witness.story.iter();
    if released <= ceiling || story.any(|step| renewed(step.kind, &step.actor)) {
        return None;
    }
    let mut evidence = vec![first.op_acquire];
    evidence.extend(first.op_release);
    Some(Remedy {
        sentence: format!(
            "A watchdog{unless} that renews the lease while its holder works: {} never renewed it, \
             and released the lock {} after the lease was over.",
            first.client,
            words::length((released - ceiling).0)
        ),
        evidence,
    })
}

#[cfg(test)]
mod tests {
    use lockstorm_checker::Nanos;
    use lockstorm_checker::verdict::Witness;

    use super::*;
    use crate::sample;

    /// a works beyond its lease, with nothing in its way.
    fn overrun() -> Witness {
        let run = sample::failover_run();
        let mut witness = run.analysis.properties[&Property::MutualExclusion].witnesses[0].clone();
        witness.property = Property::LeaseOverrun;
        witness.faults_active.clear();
        witness.holders[0].lease_ceiling = Some(Nanos::from_millis(2_000));
        witness
    }

    fn said(witness: &Witness) -> Option<Remedy> {
        remedy(&Scene::of_run(&sample::failover_run(), witness))
    }

    #[test]
    fn work_beyond_a_lease_that_nobody_renewed_wants_a_watchdog() {
        insta::assert_snapshot!(said(&overrun()).unwrap().sentence);
    }

    #[test]
    fn a_holder_with_a_fault_in_its_way_is_not_helped_by_a_watchdog() {
        let mut witness = overrun();
        witness.faults_active.push("F1".to_owned());
        assert_eq!(said(&witness), None);
    }

    #[test]
    fn who_renewed_or_never_came_back_is_not_told_to_renew() {
        let mut renewed = overrun();
        renewed.story[2].kind = StepKind::Renew;
        assert_eq!(said(&renewed), None);
        let mut gone = overrun();
        gone.holders[0].release_invoked = None;
        assert_eq!(said(&gone), None);
        let mut in_time = overrun();
        in_time.holders[0].lease_ceiling = Some(Nanos::from_millis(2_700));
        assert_eq!(said(&in_time), None);
    }

    #[test]
    fn of_the_lock_of_a_library_nobody_knows_whether_it_has_one() {
        let mut run = sample::failover_run();
        run.labels.lock = "my-library".to_owned();
        assert_eq!(remedy(&Scene::of_run(&run, &overrun())), None);
        let analysis = run.analysis;
        let unless = remedy(&Scene::of_history(&analysis, &overrun()))
            .unwrap()
            .sentence;
        assert!(unless.contains("if the lock has none"), "{unless}");
    }

    #[test]
    fn a_lock_with_renewal_is_not_told_to_renew() {
        let mut run = sample::failover_run();
        run.labels.lock = "token + renewal".to_owned();
        assert_eq!(remedy(&Scene::of_run(&run, &overrun())), None);
    }
}
