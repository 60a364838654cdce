//! A server that comes back with what it has promised.
//!
//! Speaks where a probe saw, between the first grant and the violation, that a server came back
//! without its data: an empty one, or one that lost bytes of its files. One that was down already
//! when the lock was granted had nothing of it to lose.

use lockstorm_checker::Property;

use super::scene::{Cure, Effect, Scene};

const SPEAKS_OF: &[Property] = &[
    Property::MutualExclusion,
    Property::LostLock,
    Property::Fencing,
];
const RESTARTS: &[&str] = &["restart", "power-cut", "kill", "stop"];
const DEATHS: &[&str] = &["kill", "stop"];

pub(super) fn cure(scene: &Scene) -> Option<Cure> {
    if !scene.tells_of(SPEAKS_OF) {
        return None;
    }
    let effects = scene.effects_between(RESTARTS);
    let (effect, loss) = effects
        .iter()
        .filter(|effect| !was_down(scene, &effect.fault.target))
        .find_map(|effect| Some((effect, loss(effect)?)))?;
    let target = &effect.fault.target;
    Some(Cure {
        sentence: format!(
            "A disk that is synced before each answer (appendfsync always), or a server that stays \
             away until every lease that it may have granted is over: {target} {loss} ({} {}).",
            effect.fault.id, effect.fault.kind
        ),
        evidence: vec![effect.event],
    })
}

/// Whether `server` did not run when the lock was granted.
fn was_down(scene: &Scene, server: &str) -> bool {
    let Some(first) = scene.first() else {
        return false;
    };
    let deaths = scene.effects(DEATHS);
    deaths
        .iter()
        .any(|death| death.fault.target == server && death.lasts_at(first.granted))
}

/// What a server had lost when it was back, in the words of the probe.
fn loss(effect: &Effect) -> Option<String> {
    if effect.evidence.ends_with("DBSIZE is 0") {
        return Some("came back empty".to_owned());
    }
    let (_, bytes) = effect
        .evidence
        .split_once("bytes of its files that were lost: ")?;
    let bytes: u64 = bytes.parse().ok()?;
    (bytes > 0).then(|| format!("came back without the last {bytes} bytes of its files"))
}

#[cfg(test)]
mod tests {
    use lockstorm_checker::Nanos;

    use super::*;
    use crate::model::RunRecord;
    use crate::sample;

    /// The failover run, with a restart in the place of the kill.
    fn restarted(evidence: &str) -> RunRecord {
        let mut run = sample::failover_run();
        run.analysis.faults[1].kind = "restart".to_owned();
        run.analysis.faults[1].stages[2].evidence = Some(evidence.to_owned());
        run
    }

    fn said(run: &RunRecord) -> Option<Cure> {
        let witness = &run.analysis.properties[&Property::MutualExclusion].witnesses[0];
        cure(&Scene::of_run(run, witness))
    }

    #[test]
    fn a_server_that_came_back_empty_should_have_kept_its_data() {
        let run = restarted("answers as another run, 8f76824e, and DBSIZE is 0");
        insta::assert_snapshot!(said(&run).unwrap().sentence);
    }

    #[test]
    fn lost_bytes_are_told_and_none_lost_are_no_loss() {
        let power_cut = |bytes| format!("another run; bytes of its files that were lost: {bytes}");
        let lost = said(&restarted(&power_cut(116))).unwrap().sentence;
        assert!(lost.contains("the last 116 bytes"), "{lost}");
        assert_eq!(said(&restarted(&power_cut(0))), None);
    }

    #[test]
    fn a_server_that_came_back_with_its_data_is_not_blamed() {
        let run = restarted("answers as another run, 8f76824e, and DBSIZE is 10");
        assert_eq!(said(&run), None);
        assert_eq!(
            said(&sample::failover_run()),
            None,
            "nor one that stayed dead"
        );
    }

    #[test]
    fn a_server_that_was_down_when_the_lock_was_granted_had_nothing_to_lose() {
        let mut run = restarted("answers as another run, 8f76824e, and DBSIZE is 0");
        let mut death = run.analysis.faults[1].clone();
        death.kind = "kill".to_owned();
        death.stages[2].time = Nanos(0);
        run.analysis.faults.push(death);
        assert_eq!(said(&run), None);
    }

    #[test]
    fn a_restart_after_the_violation_is_not_its_cause() {
        let mut run = restarted("answers as another run, 8f76824e, and DBSIZE is 0");
        run.analysis.faults[1].stages[2].time = Nanos::from_millis(1_900);
        assert_eq!(said(&run), None);
    }
}
