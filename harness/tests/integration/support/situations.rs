//! Runs of locks in situations, as a user runs them, and the promises that broke.

use std::fs;
use std::path::Path;

use lockstorm_reports::{Answer, Record, RunRecord, read_record};
use lockstorm_scenarios::{Case, Loaded, Promise, effective, load_shipped, situations};

use super::{run_scenario, stderr};

/// Reads all shipped situations, in the order in which they are run.
pub fn all_shipped() -> impl Iterator<Item = Loaded> {
    situations()
        .into_iter()
        .map(|shipped| load_shipped(shipped, &[]).expect("shipped situations load"))
}

/// Reads the shipped situation of this name.
pub fn shipped(name: &str) -> Loaded {
    let found = all_shipped().find(|loaded| loaded.scenario.name == name);
    found.unwrap_or_else(|| panic!("{name} is no situation any more"))
}

/// Runs the case from a file, and returns the promises that were seen broken, whether or not the
/// lock makes them.
pub fn broken(case: &Case) -> Vec<Promise> {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("scenario.toml");
    fs::write(&path, effective(case)).expect("the file can be written");
    broken_by_file(&path)
}

/// Runs the scenario in this file, and returns the same of it.
pub fn broken_by_file(path: &Path) -> Vec<Promise> {
    match outcome_of_file(path, &[]) {
        Ok(run) => broken_in(&run),
        Err(error) => panic!("{}: {error}", path.display()),
    }
}

/// Runs the scenario in this file, changed by arguments of `lockstorm run`.
///
/// # Errors
/// When there was no run, with what the program said.
pub fn outcome_of_file(path: &Path, more: &[&str]) -> Result<RunRecord, String> {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let output = run_scenario(
        path.to_str().expect("the folders have plain names"),
        folder.path(),
        &[&["--report", "none", "--seed", "1"], more].concat(),
    );
    run_record(folder.path()).map_err(|error| format!("{error}\n{}", stderr(&output)))
}

/// The promises that a run saw broken.
pub fn broken_in(run: &RunRecord) -> Vec<Promise> {
    let outcomes = run.outcomes().into_iter();
    let broken = outcomes.filter(|outcome| outcome.seen == Answer::Broken);
    broken.map(|outcome| outcome.promise).collect()
}

fn run_record(folder: &Path) -> Result<RunRecord, String> {
    match read_record(&folder.join("latest")) {
        Ok(Record::Run(run)) => Ok(*run),
        Ok(Record::Suite(_)) => Err("it is no single run".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}
