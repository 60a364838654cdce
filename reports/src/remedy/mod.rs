//! Remedies that would have prevented a violation, where the run itself shows it.
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
mod repetition;
mod replication;
mod scene;
mod watchdog;

use lockstorm_checker::verdict::Witness;

pub(crate) use scene::{Remedy, Scene};

use crate::model::RunRecord;

/// Returns what would have prevented a violation of a run, as far as the run shows it: one sentence
/// for each remedy.
pub fn remedies(run: &RunRecord, witness: &Witness) -> Vec<String> {
    let remedies = remedies_of(&Scene::of_run(run, witness));
    remedies.into_iter().map(|remedy| remedy.sentence).collect()
}

/// The remedies that the scene supports, in the order of the rules.
pub(crate) fn remedies_of(scene: &Scene) -> Vec<Remedy> {
    let rules = [
        replication::remedy,
        durability::remedy,
        memory::remedy,
        quorum::remedy,
        release::remedy,
        repetition::remedy,
        watchdog::remedy,
        expiry::remedy,
        fencing::remedy,
    ];
    rules.iter().filter_map(|rule| rule(scene)).collect()
}
