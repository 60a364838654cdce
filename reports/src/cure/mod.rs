//! What would have prevented a violation, where the run itself shows it.
//!
//! For: one sentence for each remedy whose rule the evidence of the witness meets; each rule is a
//! file that says what it asks for. Not for: advice. Where the evidence does not decide, a rule
//! says nothing, and most findings have no remedy here at all.

mod durability;
mod expiry;
mod fencing;
mod memory;
mod quorum;
mod release;
mod replication;
mod scene;
mod watchdog;

pub(crate) use scene::{Cure, Scene};

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
