//! A lease that is set together with the lock, and one that ends with its thread.
//!
//! Speaks where a lock stays taken because its holder was seen to die: without a lease, or with a
//! watchdog that was seen to go on.

use lockstorm_checker::Property;
use lockstorm_checker::verdict::{FaultSummary, Holder};
use lockstorm_scenarios::FaultKind;

use super::scene::{Remedy, Scene};

const SPEAKS_OF: &[Property] = &[Property::Liveness];

pub(super) fn remedy(scene: &Scene) -> Option<Remedy> {
    if !scene.tells_of(SPEAKS_OF) {
        return None;
    }
    without_lease(scene).or_else(|| without_thread(scene))
}

fn without_lease(scene: &Scene) -> Option<Remedy> {
    let deaths = scene.effects_between(|fault| is_of(fault, FaultKind::KillClient));
    let (death, holder) = deaths.iter().find_map(|death| {
        let mut holders = scene.witness.holders.iter();
        let dead =
            holders.find(|holder| is_hit(holder, death.fault) && holder.lease_floor.is_none())?;
        Some((death, dead))
    })?;
    Some(Remedy {
        sentence: format!(
            "A lease that is set in the same command as the lock: {} died holding it without one \
             ({}).",
            holder.client, death.fault.id
        ),
        evidence: vec![holder.op_acquire, death.event],
    })
}

fn without_thread(scene: &Scene) -> Option<Remedy> {
    let deaths = scene.effects_between(|fault| is_of(fault, FaultKind::KillThread));
    let (death, holder) = deaths.iter().find_map(|death| {
        let mut holders = scene.witness.holders.iter();
        let dead = holders.find(|holder| is_hit(holder, death.fault))?;
        Some((death, dead))
    })?;
    Some(Remedy {
        sentence: format!(
            "A watchdog that ends with the thread it renews for: that of {} is dead, and its lease \
             went on being renewed ({}).",
            holder.client, death.fault.id
        ),
        evidence: vec![holder.op_acquire, death.event],
    })
}

fn is_of(fault: &FaultSummary, kind: FaultKind) -> bool {
    FaultKind::read(&fault.kind) == Some(kind)
}

fn is_hit(holder: &Holder, fault: &FaultSummary) -> bool {
    let client = fault.target.client();
    client.is_some_and(|client| **client == *holder.client)
}

#[cfg(test)]
mod tests {
    use lockstorm_checker::verdict::Witness;

    use super::*;
    use crate::model::RunRecord;
    use crate::sample;

    /// a takes the lock, without a lease, and meets the fault.
    fn stuck(kind: &str, target: &str) -> (RunRecord, Witness) {
        let mut run = sample::failover_run();
        sample::turn(&mut run.analysis.faults[1], kind, target);
        let mut witness = run.analysis.properties[&Property::LostLock].witnesses[0].clone();
        witness.property = Property::Liveness;
        witness.holders[0].lease_floor = None;
        (run, witness)
    }

    fn said(kind: &str, target: &str) -> Option<Remedy> {
        let (run, witness) = stuck(kind, target);
        remedy(&Scene::of_run(&run, &witness))
    }

    #[test]
    fn a_holder_that_died_without_a_lease_should_have_had_one() {
        insta::assert_snapshot!(said("kill-client", "a").unwrap().sentence);
    }

    #[test]
    fn a_watchdog_that_outlives_its_thread_should_not() {
        insta::assert_snapshot!(said("kill-thread", "a").unwrap().sentence);
    }

    #[test]
    fn the_death_of_another_or_of_a_server_explains_nothing() {
        assert_eq!(said("kill-client", "b"), None);
        assert_eq!(said("kill-thread", "b"), None);
        assert_eq!(said("kill", "primary"), None);
    }

    #[test]
    fn a_holder_with_a_lease_that_died_is_not_told_to_have_one() {
        let (run, mut witness) = stuck("kill-client", "a");
        witness.holders[0].lease_floor = witness.holders[0].lease_ceiling;
        assert_eq!(remedy(&Scene::of_run(&run, &witness)), None);
    }
}
