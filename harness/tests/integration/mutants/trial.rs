//! One run of a situation with a correct lock or a mutant of it, and the promises that broke.

use std::fs;

use lockstorm_reports::{Record, RunRecord, read_record};
use lockstorm_scenarios::{Case, Mutant, Promise, effective};

use crate::support::{run_scenario, stderr};

/// Runs the case as a user does, from a file, with the lock as it is or with a mistake, and returns
/// the promises that were seen broken.
pub fn broken(case: &Case, mutant: Option<Mutant>) -> Vec<Promise> {
    let mut case = case.clone();
    if let Some(mutant) = mutant {
        case.lock = case.lock.with_mutant(mutant);
    }
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("scenario.toml");
    fs::write(&path, effective(&case)).expect("the file can be written");
    let output = run_scenario(
        path.to_str().expect("temporary folders have plain names"),
        folder.path(),
        &["--report", "none", "--seed", "1"],
    );
    run_record(folder.path()).map_or_else(
        |error| {
            panic!(
                "{} with {}: {error}\n{}",
                case.name,
                case.lock.label(),
                stderr(&output)
            )
        },
        |run| run.broken_promises(),
    )
}

fn run_record(folder: &std::path::Path) -> Result<RunRecord, String> {
    match read_record(&folder.join("latest")) {
        Ok(Record::Run(run)) => Ok(*run),
        Ok(Record::Suite(_)) => Err("it is no single run".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}
