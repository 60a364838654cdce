//! What would have prevented a violation, where the run itself shows it.
//!
//! For: one sentence for each remedy whose rule the evidence of the witness meets; each rule is a
//! file that says what it asks for. A remedy takes away causes: where anything that it leaves may
//! have caused the violation as well, the rule says nothing. Not for: advice. Where the evidence
//! does not decide, a rule says nothing, and most findings have no remedy here at all.

mod durability;
mod expiry;
mod fencing;
mod memory;
mod quorum;
mod release;
mod replication;
mod scene;
mod watchdog;

use lockstorm_checker::verdict::Witness;

pub(crate) use scene::{Cure, Scene};

use crate::model::RunRecord;

/// What would have prevented a violation of a run, as far as the run shows it: one sentence for
/// each remedy.
pub fn remedies(run: &RunRecord, witness: &Witness) -> Vec<String> {
    let cures = cures(&Scene::of_run(run, witness));
    cures.into_iter().map(|cure| cure.sentence).collect()
}

/// The remedies that the scene supports, in the order of the rules.
pub(crate) fn cures(scene: &Scene) -> Vec<Cure> {
    let rules = [
        replication::cure,
        durability::cure,
        memory::cure,
        quorum::cure,
        release::cure,
        watchdog::cure,
        expiry::cure,
        fencing::cure,
    ];
    rules.iter().filter_map(|rule| rule(scene)).collect()
}
