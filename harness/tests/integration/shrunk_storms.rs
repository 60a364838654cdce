//! Storms that violate something, each shrunk to a short script: `make shrunk-storms` runs those in
//! `scenarios/shrunk/storms`, shrinks each run to a script in `scenarios/shrunk`, and writes
//! `docs/shrunk-storms.md`. The tests that always run hold the page to the files.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use lockstorm_reports::{Record, RunRecord, read_record};
use lockstorm_scenarios::{Scenario, load};

use crate::support::{TRIES_MAX, is_asked_for, listed, lockstorm, root, stderr};

/// Storms that are kept, at the least.
const STORMS: usize = 10;
/// Steps of a script at most.
const STEPS_MAX: usize = 8;
/// Runs in which a script is tried again, and in how many it must violate the same.
const AGAIN: (usize, usize) = (20, 19);

/// A storm, and the script that it was shrunk to.
struct Shrunk {
    name: String,
    storm: Scenario,
    script: Option<Scenario>,
}

fn folder() -> PathBuf {
    root().join("scenarios/shrunk")
}

fn script_of(storm: &Path) -> PathBuf {
    folder().join(storm.file_name().expect("a file has a name"))
}

fn storms() -> Vec<PathBuf> {
    let mut all = listed(&folder().join("storms"));
    all.retain(|storm| is_asked_for(&name_of(storm)));
    all.sort();
    all
}

fn name_of(storm: &Path) -> String {
    let stem = storm.file_stem().expect("a file has a name");
    stem.to_string_lossy().into_owned()
}

fn scenario(path: &Path) -> Scenario {
    match load(path, &[]) {
        Ok(loaded) => loaded.scenario,
        Err(mistakes) => panic!("{mistakes}"),
    }
}

fn all() -> Vec<Shrunk> {
    let storms = storms().into_iter();
    let shrunk = storms.map(|storm| {
        let script = script_of(&storm);
        Shrunk {
            name: name_of(&storm),
            storm: scenario(&storm),
            script: script.exists().then(|| scenario(&script)),
        }
    });
    shrunk.collect()
}

/// The one property that a script has judged, and violates.
fn violated(script: &Scenario) -> String {
    let only = script.checks.only.iter().flatten();
    let names: Vec<&str> = only.map(|property| property.name()).collect();
    names.join(", ")
}

fn page() -> String {
    let mut page = "# Storms and their scripts\n\n\
        Each of these storms violated something, and `lockstorm shrink` looked for the shortest\n\
        script that does the same ([how](hunting.md#from-a-storm-to-a-script)). Written by\n\
        `make shrunk-storms`, from real runs.\n\n\
        | storm | violates | steps of the script |\n|---|---|---|\n"
        .to_owned();
    for Shrunk {
        name,
        storm,
        script,
    } in all()
    {
        let Some(script) = script else { continue };
        let told = storm.description.replace('\n', " ");
        let (violated, steps) = (violated(&script), script.step.len());
        writeln!(
            page,
            "| [{name}](../scenarios/shrunk/storms/{name}.toml): {} | {violated} | \
             [{steps}](../scenarios/shrunk/{name}.toml) |",
            told.trim()
        )
        .expect("a string takes it");
    }
    page
}

fn written() -> PathBuf {
    root().join("docs/shrunk-storms.md")
}

#[test]
fn the_page_tells_of_every_storm_and_its_script() {
    let text = fs::read_to_string(written()).expect("docs/shrunk-storms.md is there");
    assert!(text == page(), "write it with `make shrunk-storms`");
}

#[test]
fn every_storm_has_a_script_of_a_few_steps() {
    let all = all();
    assert!(all.len() >= STORMS, "{} storms", all.len());
    for Shrunk { name, script, .. } in all {
        let script = script.unwrap_or_else(|| panic!("{name} was not shrunk"));
        let steps = script.step.len();
        assert!(steps <= STEPS_MAX, "{name}: {steps} steps");
    }
}

/// Runs a scenario with a seed; gives the record of the run.
fn run(scenario: &Path, out: &Path, seed: usize) -> RunRecord {
    let mut command = lockstorm();
    command.args(["run", "--report", "none", "--progress", "none"]);
    command.args(["--seed", &seed.to_string(), "--out"]);
    let output = command.arg(out).arg(scenario).output();
    let text = stderr(&output.expect("the program can be started"));
    match read_record(&out.join("latest")) {
        Ok(Record::Run(run)) => *run,
        Ok(Record::Suite(_)) => panic!("{}: it is no single run", scenario.display()),
        Err(error) => panic!("{error}\n{text}"),
    }
}

/// Tells whether a run had something else than was expected: a storm and a script here expect that
/// what they are about is valid.
fn is_violated(run: &RunRecord) -> bool {
    let judged = run.analysis.properties.values();
    let mut verdicts = judged.map(|judged| judged.verdict);
    verdicts.any(|verdict| verdict == lockstorm_checker::Verdict::Violated)
}

/// Runs a storm until it violates what its file is about, and shrinks that run.
fn shrink(storm: &Path) {
    let asked = scenario(storm);
    let (property, _) = asked.expect.first_key_value().expect("a storm expects");
    let out = tempfile::tempdir().expect("a temporary folder can be made");
    let violates = |seed: &usize| {
        let run = run(storm, out.path(), *seed);
        run.analysis
            .properties
            .get(property)
            .is_some_and(|judged| judged.verdict == lockstorm_checker::Verdict::Violated)
    };
    let seed = (1..=TRIES_MAX).find(violates);
    assert!(seed.is_some(), "{} violated nothing", storm.display());
    let mut command = lockstorm();
    command.args(["shrink", "--property", property.name(), "--seed", "7"]);
    command.args(["--for", "3m", "--progress", "none", "--to"]);
    command.arg(script_of(storm)).arg(out.path().join("latest"));
    let output = command.output().expect("the program can be started");
    assert!(
        output.status.success(),
        "{}: {}",
        storm.display(),
        stderr(&output)
    );
}

#[test]
#[ignore = "takes half an hour; make shrunk-storms"]
fn every_storm_is_shrunk() {
    for storm in storms() {
        if !script_of(&storm).exists() {
            shrink(&storm);
        }
    }
    fs::write(written(), page()).expect("docs/ can be written");
}

#[test]
#[ignore = "takes a quarter of an hour; make shrunk-storms"]
fn scripts_violate_the_same_nineteen_times_in_twenty() {
    let out = tempfile::tempdir().expect("a temporary folder can be made");
    let (runs, least) = AGAIN;
    let mut seldom = Vec::new();
    for storm in storms() {
        let script = script_of(&storm);
        let again = (1..=runs).filter(|seed| is_violated(&run(&script, out.path(), *seed)));
        let times = again.count();
        println!("{}: {times} of {runs}", script.display());
        if times < least {
            seldom.push(script);
        }
    }
    assert!(seldom.is_empty(), "{seldom:?}");
}
