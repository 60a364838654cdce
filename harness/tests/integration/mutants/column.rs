//! The columns of the search: each shipped situation that fits a lock which has mutants.

use crate::support::situations::all_shipped;
use lockstorm_scenarios::{Case, Loaded, LockKind, Mutant, TopologyKind, put_into, typed_lock};

/// Servers that take seconds to notice anything; what they could catch, others do sooner.
const SLOW: [TopologyKind; 2] = [TopologyKind::Sentinel, TopologyKind::Cluster];

/// One lock in one situation.
pub struct Column {
    pub situation: String,
    pub case: Case,
}

impl Column {
    /// The case with a mistake in the lock.
    pub fn with(&self, mutant: Mutant) -> Case {
        let mut case = self.case.clone();
        case.lock = case.lock.with_mutant(mutant);
        case
    }
}

/// Every situation that fits the lock, each on the first of its servers that do: mutants do not
/// depend on them.
pub fn columns(lock: LockKind) -> Vec<Column> {
    all_shipped()
        .filter_map(|loaded| {
            let case = first_case(&loaded, lock)?;
            let situation = loaded.scenario.name;
            Some(Column { situation, case })
        })
        .collect()
}

fn first_case(loaded: &Loaded, lock: LockKind) -> Option<Case> {
    let lock = typed_lock(lock.name()).expect("the locks with mutants are our own");
    let situation = loaded.scenario.situation.as_ref();
    let situation = situation.expect("the folder holds situations");
    let hits = situation.numbers_hit();
    let quick = |kind: TopologyKind| !SLOW.contains(&kind);
    let mut servers = situation.topologies.iter().filter(|one| quick(one.kind()));
    servers.find_map(|servers| put_into(loaded, &lock, servers, &[], hits[0]).ok())
}
