//! One master more, where their number is even.
//!
//! Speaks where a lock could not be had while exactly half of an even number of independent
//! masters were away all the time, and nothing else was in the way: the other half is no majority,
//! but with one more it is. Only of locks that are known to ask a majority.

use lockstorm_checker::Property;
use lockstorm_checker::history::FaultPhase;
use lockstorm_checker::verdict::FaultSummary;
use lockstorm_scenarios::{Absence, LockFeature};

use super::scene::{Effect, Remedy, Scene};
use crate::hit::absence;

const SPEAKS_OF: &[Property] = &[Property::Liveness, Property::Availability];
/// Fewer masters are no quorum.
const MASTERS_MIN: usize = 2;

pub(super) fn remedy(scene: &Scene) -> Option<Remedy> {
    let asks_majority = scene
        .lock_kind()
        .is_some_and(|lock| lock.has(LockFeature::Majority));
    if !scene.tells_of(SPEAKS_OF) || !asks_majority {
        return None;
    }
    // The shards of a Cluster are masters too, and no quorum; they have names of their own.
    let is_master = |name: &str| {
        let number = name.strip_prefix('n');
        number.is_some_and(|number| number.parse::<u32>().is_ok())
    };
    let all = scene.nodes.len();
    let independent = scene.nodes.iter().all(|node| is_master(&node.name));
    if !independent || all < MASTERS_MIN || all % 2 == 1 {
        return None;
    }
    let away: Vec<Effect> = scene
        .effects(|fault| matches!(absence(fault), Some(Absence::UntilHealed(_))))
        .into_iter()
        .filter(|effect| covers(effect, scene))
        .collect();
    let nodes = away.iter().filter_map(|effect| effect.fault.target.node());
    let mut names: Vec<&str> = nodes.map(|node| &**node).collect();
    names.sort_unstable();
    names.dedup();
    // What else was in the way may be so with one master more.
    let mut blamed = scene.blamed();
    let is_away = |fault: &FaultSummary| away.iter().any(|effect| effect.fault.id == fault.id);
    if names.len() != all / 2 || !blamed.all(is_away) {
        return None;
    }
    Some(Remedy {
        sentence: format!(
            "An odd number of masters: {} of {all} were away ({}), and what was left is no \
             majority; {} of {} would have been one.",
            names.len(),
            names.join(", "),
            all / 2 + 1,
            all + 1
        ),
        evidence: away.iter().map(|effect| effect.event).collect(),
    })
}

/// Tells whether an absence lasts as long as the violation.
fn covers(effect: &Effect, scene: &Scene) -> bool {
    let (from, to) = scene.witness.interval;
    let healed = effect.fault.at(FaultPhase::Healed);
    effect.time <= from && healed.is_none_or(|healed| healed >= to)
}

#[cfg(test)]
mod tests {
    use lockstorm_checker::Nanos;
    use lockstorm_checker::verdict::Witness;

    use super::*;
    use crate::model::{Node, RunRecord};
    use crate::sample;

    /// `masters` of them, the first `away` of which are killed before the violation.
    fn stuck(masters: usize, away: usize) -> (RunRecord, Witness) {
        let mut run = sample::failover_run();
        run.environment.nodes = (1..=masters)
            .map(|n| Node {
                name: format!("n{n}"),
                role: "master".to_owned(),
                address: String::new(),
            })
            .collect();
        let kill = run.analysis.faults[1].clone();
        run.analysis.faults = (1..=away)
            .map(|n| {
                let mut kill = kill.clone();
                sample::turn(&mut kill, "kill", &format!("n{n}"));
                kill
            })
            .collect();
        run.labels.lock = "redlock".to_owned();
        let mut witness = run.analysis.properties[&Property::MutualExclusion].witnesses[0].clone();
        witness.property = Property::Liveness;
        (run, witness)
    }

    #[test]
    fn half_of_an_even_number_would_have_been_a_majority_with_one_more() {
        let (run, witness) = stuck(4, 2);
        insta::assert_snapshot!(remedy(&Scene::of_run(&run, &witness)).unwrap().sentence);
    }

    #[test]
    fn a_lock_that_needs_all_masters_or_had_more_in_its_way_is_not_helped_by_one_more() {
        for lock in ["redisson-multi", "token", "my-library"] {
            let (mut run, witness) = stuck(4, 2);
            lock.clone_into(&mut run.labels.lock);
            assert_eq!(remedy(&Scene::of_run(&run, &witness)), None, "{lock}");
        }
        let (mut run, witness) = stuck(4, 2);
        let cut = sample::failover_run().analysis.faults.remove(0);
        run.analysis.faults.push(cut);
        assert_eq!(remedy(&Scene::of_run(&run, &witness)), None);
    }

    #[test]
    fn an_odd_number_or_another_share_is_not_remedied_by_one_more() {
        for (masters, away) in [(5, 2), (5, 3), (4, 1), (4, 3), (1, 1)] {
            let (run, witness) = stuck(masters, away);
            let said = remedy(&Scene::of_run(&run, &witness));
            assert_eq!(said, None, "{away} of {masters}");
        }
    }

    #[test]
    fn masters_that_came_back_in_time_are_not_blamed() {
        let (mut run, witness) = stuck(4, 2);
        run.analysis.faults[0].stages[3].time = Nanos::from_millis(2_000);
        assert_eq!(remedy(&Scene::of_run(&run, &witness)), None);
    }

    #[test]
    fn servers_of_other_names_are_no_quorum() {
        let (mut run, witness) = stuck(4, 2);
        run.environment.nodes[3].name = "shard-4".to_owned();
        assert_eq!(remedy(&Scene::of_run(&run, &witness)), None);
    }
}
