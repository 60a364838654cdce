//! A server that comes back with what it has promised.
//!
//! Speaks where a probe saw, between the first grant and the violation, that a server came back
//! without its data: an empty one, or one that lost bytes of its files. One that was down already
//! when the lock was granted had nothing of it to lose.

use lockstorm_checker::Property;
use lockstorm_checker::history::{DataLoss, FaultClass};
use lockstorm_checker::verdict::FaultSummary;

use super::scene::{Cure, Scene};

const SPEAKS_OF: &[Property] = &[
    Property::MutualExclusion,
    Property::LostLock,
    Property::Fencing,
];

pub(super) fn cure(scene: &Scene) -> Option<Cure> {
    if !scene.tells_of(SPEAKS_OF) {
        return None;
    }
    let effects = scene.effects_between(is_death);
    let (effect, target, loss) = effects.iter().find_map(|effect| {
        let server = effect.fault.target.node()?;
        let loss = loss(effect.lost?);
        (!was_down(scene, server)).then_some((effect, server, loss))
    })?;
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
    let is_own = |fault: &FaultSummary| {
        let target = fault.target.node();
        is_death(fault) && target.is_some_and(|node| **node == *server)
    };
    let deaths = scene.effects(is_own);
    deaths.iter().any(|death| death.lasts_at(first.granted))
}

fn is_death(fault: &FaultSummary) -> bool {
    fault.class == FaultClass::Death
}

/// A loss in words.
fn loss(lost: DataLoss) -> String {
    match lost {
        DataLoss::All | DataLoss::Disk => "came back empty".to_owned(),
        DataLoss::Bytes(bytes) => {
            format!("came back without the last {bytes} bytes of its files")
        }
    }
}

#[cfg(test)]
mod tests {
    use lockstorm_checker::Nanos;

    use super::*;
    use crate::model::RunRecord;
    use crate::sample;

    /// The failover run, with a restart in the place of the kill.
    fn restarted(lost: Option<DataLoss>) -> RunRecord {
        let mut run = sample::failover_run();
        sample::turn(&mut run.analysis.faults[1], "restart", "primary");
        run.analysis.faults[1].stages[2].lost = lost;
        run
    }

    fn said(run: &RunRecord) -> Option<Cure> {
        let witness = &run.analysis.properties[&Property::MutualExclusion].witnesses[0];
        cure(&Scene::of_run(run, witness))
    }

    #[test]
    fn a_server_that_came_back_empty_should_have_kept_its_data() {
        let run = restarted(Some(DataLoss::All));
        insta::assert_snapshot!(said(&run).unwrap().sentence);
    }

    #[test]
    fn lost_bytes_are_told_and_no_loss_is_none() {
        let lost = said(&restarted(Some(DataLoss::Bytes(116))))
            .unwrap()
            .sentence;
        assert!(lost.contains("the last 116 bytes"), "{lost}");
        assert_eq!(said(&restarted(None)), None);
    }

    #[test]
    fn a_server_that_came_back_with_its_data_is_not_blamed() {
        let run = restarted(None);
        assert_eq!(said(&run), None);
        assert_eq!(
            said(&sample::failover_run()),
            None,
            "nor one that stayed dead"
        );
    }

    #[test]
    fn a_server_that_was_down_when_the_lock_was_granted_had_nothing_to_lose() {
        let mut run = restarted(Some(DataLoss::All));
        let mut death = run.analysis.faults[1].clone();
        sample::turn(&mut death, "kill", "primary");
        death.stages[2].time = Nanos(0);
        run.analysis.faults.push(death);
        assert_eq!(said(&run), None);
    }

    #[test]
    fn a_restart_after_the_violation_is_not_its_cause() {
        let mut run = restarted(Some(DataLoss::All));
        run.analysis.faults[1].stages[2].time = Nanos::from_millis(1_900);
        assert_eq!(said(&run), None);
    }
}
