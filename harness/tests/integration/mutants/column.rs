//! The columns of the matrix: each shipped scenario with one case for a lock that has mutants.

use std::path::PathBuf;

use lockstorm_scenarios::{Case, LockKind, Mutant, TopologyKind, expand, list, load};

use super::trial::Trial;
use crate::support::root;

/// Folders of the library, those first that were made for mutants: catches are tried from the top.
const FOLDERS: [&str; 3] = ["mutants", "hazards", "storms"];

/// Servers that take seconds to notice anything; what they could catch, others do sooner.
const SLOW: [TopologyKind; 2] = [TopologyKind::Sentinel, TopologyKind::Cluster];

/// One lock in one scenario.
pub struct Column {
    /// The path below the library, without its ending.
    pub scenario: String,
    pub lock: LockKind,
    pub case: Case,
}

/// Every column, for each lock in the order of the library.
pub fn columns() -> Vec<Column> {
    let mut columns = Vec::new();
    for (scenario, cases) in FOLDERS.into_iter().flat_map(files) {
        let mut locks: Vec<LockKind> = Vec::new();
        for case in cases {
            let lock = case.lock.kind();
            // Of several, the first: mutants do not depend on the servers.
            let is_new = Mutant::of(lock).next().is_some() && !locks.contains(&lock);
            let is_correct = case.lock.mutant().is_none();
            if !is_new || !is_correct || SLOW.contains(&case.topology.kind()) {
                continue;
            }
            locks.push(lock);
            columns.push(Column {
                scenario: scenario.clone(),
                lock,
                case,
            });
        }
    }
    columns
}

/// Every case of the scenarios that were made for mutants, with the correct lock.
pub fn made_for_mutants() -> Vec<Trial> {
    let cases = files(FOLDERS[0]).into_iter().flat_map(|(_, cases)| cases);
    cases.map(Trial::correct).collect()
}

fn files(folder: &str) -> Vec<(String, Vec<Case>)> {
    let path: PathBuf = root().join("scenarios/library").join(folder);
    let listed = list(&path).expect("the library has this folder");
    assert!(!listed.is_empty(), "{folder} must hold scenarios");
    listed
        .into_iter()
        .map(|listed| {
            let loaded = load(&listed.path, &[]).expect("shipped files load");
            let cases = expand(&loaded).expect("shipped files expand").cases;
            (format!("{folder}/{}", listed.name), cases)
        })
        .collect()
}
