//! A server that comes back with what it has promised.
//!
//! Speaks where a probe saw, between the first grant and the violation, that a server came back
//! without its data: an empty one, or one that lost bytes of its files. One that was down already
//! when the lock was granted had nothing of it to lose, and where a server may have forgotten the
//! lock by anything else, a better disk may not help. Against files that are removed none does.

use lockstorm_checker::Property;
use lockstorm_checker::history::{DataLoss, FaultClass};
use lockstorm_checker::verdict::FaultSummary;

use super::scene::{Remedy, Scene, loss};

const SPEAKS_OF: &[Property] = &[
    Property::MutualExclusion,
    Property::LostLock,
    Property::Fencing,
];

pub(super) fn remedy(scene: &Scene) -> Option<Remedy> {
    if !scene.tells_of(SPEAKS_OF) || !scene.forgot_only_by(is_death) {
        return None;
    }
    let since = scene.first()?.granted;
    let between = |fault: &&FaultSummary| {
        let back = loss(fault).map(|(time, ..)| time);
        back.is_some_and(|back| since < back && back <= scene.witness.interval.0)
    };
    let is_loss = |fault: &&FaultSummary| {
        let server = fault.target.node();
        is_death(fault) && server.is_some_and(|server| !was_down(scene, server, &fault.id))
    };
    let losses: Vec<&FaultSummary> = scene.blamed().filter(between).filter(is_loss).collect();
    let fault = losses.first()?;
    let (_, event, lost) = loss(fault)?;
    let is_synced = |fault: &&FaultSummary| !matches!(loss(fault), Some((.., DataLoss::Disk)));
    let synced = if losses.iter().all(is_synced) {
        "A disk that is synced before each answer (appendfsync always), or a server"
    } else {
        "A server"
    };
    Some(Remedy {
        sentence: format!(
            "{synced} that stays away until every lease that it may have granted is over: {} {} \
             ({} {}).",
            fault.target.node()?,
            words(lost),
            fault.id,
            fault.kind
        ),
        evidence: vec![event],
    })
}

/// Tells whether `server` did not run when the lock was granted, by another fault than `lost_by`.
fn was_down(scene: &Scene, server: &str, lost_by: &str) -> bool {
    let Some(first) = scene.first() else {
        return false;
    };
    let is_own = |fault: &FaultSummary| {
        let target = fault.target.node();
        let other = fault.id != lost_by;
        other && is_death(fault) && target.is_some_and(|node| **node == *server)
    };
    let deaths = scene.effects(is_own);
    deaths.iter().any(|death| death.lasts_at(first.granted))
}

fn is_death(fault: &FaultSummary) -> bool {
    fault.class == FaultClass::Death
}

/// A loss in words.
fn words(lost: DataLoss) -> String {
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
        run.analysis.faults.truncate(2);
        sample::turn(&mut run.analysis.faults[1], "restart", "primary");
        run.analysis.faults[1].stages[2].lost = lost;
        run
    }

    fn said(run: &RunRecord) -> Option<Remedy> {
        let witness = &run.analysis.properties[&Property::MutualExclusion].witnesses[0];
        remedy(&Scene::of_run(run, witness))
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
    fn files_that_are_removed_no_sync_brings_back() {
        let said = said(&restarted(Some(DataLoss::Disk))).unwrap().sentence;
        assert!(said.starts_with("A server that stays away"), "{said}");
    }

    #[test]
    fn what_may_have_been_forgotten_by_anything_else_has_no_remedy() {
        for (kind, target) in [
            ("promote", "replica-1"),
            ("delete-key", "orders"),
            ("clock", "primary"),
        ] {
            let mut run = restarted(Some(DataLoss::All));
            let mut other = sample::failover_run().analysis.faults.remove(2);
            sample::turn(&mut other, kind, target);
            run.analysis.faults.push(other);
            assert_eq!(said(&run), None, "{kind}");
        }
        let mut run = restarted(Some(DataLoss::All));
        let mut harmless = sample::failover_run().analysis.faults.remove(2);
        sample::turn(&mut harmless, "pause", "primary");
        run.analysis.faults.push(harmless);
        assert!(said(&run).is_some());
        run.labels.topology = "sentinel (2 replicas)".to_owned();
        assert_eq!(said(&run), None, "another may have taken over meanwhile");
    }

    #[test]
    fn a_server_that_was_down_when_the_lock_was_granted_had_nothing_to_lose() {
        let mut run = restarted(Some(DataLoss::All));
        let mut death = run.analysis.faults[1].clone();
        death.id = "F9".to_owned();
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
