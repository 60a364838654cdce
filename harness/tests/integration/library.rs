//! Every shipped scenario, run as a user runs it: each must come out as it says it will.

use std::fs;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{
    TRIES_MAX, have_kernel_network, have_server, have_system, root, run_scenario, skipped, stderr,
};
use lockstorm_checker::Options;
use lockstorm_checker::history::read_jsonl;
use lockstorm_harness::server::{find_pgbouncer, find_postgres};
use lockstorm_scenarios::{FaultSpec, System, expand, load};
use serde_json::Value as Json;

/// The pages of the runs, and not their pictures too: drawn without optimisation, those would take
/// longer than the runs.
const PAGES: [&str; 2] = ["--report", "html"];
/// Histories of more events are not judged again and again with some of them deleted.
const EVENTS_MAX: usize = 2_000;
/// Exit code of `lockstorm run` if it cannot tell.
const UNDECIDED: i32 = 2;
/// Exit code if servers did not get ready, whatever became of the other runs.
const NO_SERVERS: i32 = 69;

/// Scenario files of one folder of the library.
fn shipped(folder: &str) -> Vec<String> {
    let path = root().join("scenarios/library").join(folder);
    let mut files: Vec<_> = fs::read_dir(path)
        .expect("the library has this folder")
        .map(|entry| {
            entry
                .expect("it can be listed")
                .path()
                .display()
                .to_string()
        })
        .filter(|path| {
            Path::new(path)
                .extension()
                .is_some_and(|extension| extension == "toml")
        })
        .collect();
    files.sort();
    assert!(
        !files.is_empty(),
        "the folder must hold scenarios, or nothing is tested"
    );
    files
}

/// Tells whether a file has a fault that takes a network of packets.
fn needs_packets(scenario: &str) -> bool {
    let loaded = load(Path::new(scenario), &[]).expect("shipped files load");
    let cases = expand(&loaded).expect("shipped files expand").cases;
    let mut faults = cases.iter().flat_map(|case| case.workload.faults());
    faults.any(FaultSpec::needs_packets)
}

/// Runs these scenarios, and then again those runs that could not tell. That nobody is accused who
/// should not be, and nobody gets away, must be shown in each run; that all could be shown, in one.
fn all_come_out_as_expected(mut scenarios: Vec<String>, how: &[&str]) {
    if !have_server() {
        return;
    }
    scenarios.retain(|scenario| !needs_packets(scenario) || have_kernel_network());
    let mut left = Vec::new();
    // The runs of a try are in its folder, and are what the next one runs.
    let mut tries = Vec::new();
    for _ in 0..TRIES_MAX {
        let out = tempfile::tempdir().expect("a temporary folder can be made");
        let (first, others) = scenarios.split_first().expect("there are scenarios");
        let others = others.iter().map(String::as_str);
        let more: Vec<&str> = others.chain(how.iter().copied()).collect();
        let output = run_scenario(first, out.path(), &more);
        witnesses_carry_their_claims(&out.path().join("latest"));
        if output.status.success() {
            return;
        }
        let text = stderr(&output);
        let code = output.status.code();
        assert!(
            code == Some(UNDECIDED) || code == Some(NO_SERVERS),
            "{text}"
        );
        left = undecided(&out.path().join("latest"), &text);
        scenarios = left.iter().map(|run| run.scenario.clone()).collect();
        tries.push(out);
    }
    let why: Vec<&str> = left.iter().map(|run| run.why.as_str()).collect();
    panic!("not decided in {TRIES_MAX} tries:\n{}", why.join("\n"));
}

/// A run that could not tell.
struct Undecided {
    /// The file that repeats it.
    scenario: String,
    /// Its cell, and the reasons.
    why: String,
}

impl Undecided {
    fn of(record: &Json, folder: &Path) -> Self {
        let judged = record["analysis"]["properties"].as_object();
        let reasons = judged
            .into_iter()
            .flatten()
            .filter_map(|(property, judged)| {
                let reason = judged["reason"].as_str()?;
                Some(format!("{property}: {reason}"))
            });
        let stopped = record["stopped"].as_str().map(str::to_owned);
        let reasons: Vec<String> = stopped.into_iter().chain(reasons).collect();
        Self {
            scenario: folder.join("scenario.toml").display().to_string(),
            why: format!("{}: {}", record["labels"], reasons.join("; ")),
        }
    }
}

/// The folders of the runs of a suite, or of the one run.
fn runs(folder: &Path) -> Vec<PathBuf> {
    let cells = fs::read_dir(folder.join("cells"));
    let mut folders: Vec<_> = cells.map_or_else(
        |_| vec![folder.to_owned()],
        |cells| {
            cells
                .map(|cell| cell.expect("it can be listed").path())
                .collect()
        },
    );
    folders.sort();
    folders
}

/// Deletes events inside and outside of each witness of short runs, and judges what is left.
fn witnesses_carry_their_claims(folder: &Path) {
    let options = Options {
        witnesses_max: 1,
        ..Options::default()
    };
    let mut tried = crate::carried::Tried::new();
    for folder in runs(folder) {
        let label = folder.join("history.jsonl").display().to_string();
        let Ok(file) = fs::File::open(&label) else {
            continue;
        };
        let history = read_jsonl(BufReader::new(file), &label).expect("it can be read");
        if history.events.len() <= EVENTS_MAX {
            crate::carried::carries(&history, &options, &label, &mut tried);
        }
    }
    println!("witnesses that carry their claims: {tried:?}");
}

/// The runs of a suite, or the one run, that could not tell; `said` is all that the program said.
fn undecided(folder: &Path, said: &str) -> Vec<Undecided> {
    let mut undecided = Vec::new();
    for folder in runs(folder) {
        // Without servers a run has nothing to record but what it was to be.
        let Ok(text) = fs::read_to_string(folder.join("results.json")) else {
            let why = format!("{}: no servers", folder.display());
            let scenario = folder.join("scenario.toml").display().to_string();
            undecided.push(Undecided { scenario, why });
            continue;
        };
        let record: Json = serde_json::from_str(&text).expect("the record is JSON");
        match record["outcome"].as_str() {
            Some("as-expected") => {}
            Some("unknown") => undecided.push(Undecided::of(&record, &folder)),
            _ => panic!("{said}"),
        }
    }
    undecided
}

#[test]
fn every_experiment_of_the_origin_comes_out_as_its_file_says() {
    all_come_out_as_expected(shipped("origin"), &PAGES);
}

#[test]
fn every_example_comes_out_as_its_file_says() {
    all_come_out_as_expected(shipped("examples"), &PAGES);
}

#[test]
fn every_storm_comes_out_as_its_file_says() {
    all_come_out_as_expected(shipped("storms"), &PAGES);
}

#[test]
fn every_scenario_of_mariadb_comes_out_as_its_file_says() {
    if !have_system(System::Mariadb) {
        return;
    }
    all_come_out_as_expected(shipped("mariadb"), &PAGES);
}

#[test]
fn every_scenario_of_postgres_comes_out_as_its_file_says() {
    if let Err(error) = find_postgres().and_then(|_| find_pgbouncer()) {
        return skipped(&error.to_string());
    }
    all_come_out_as_expected(shipped("postgres"), &PAGES);
}

#[test]
fn every_scenario_of_mongodb_comes_out_as_its_file_says() {
    let adapter = root().join("adapters/python/mongodb");
    let version = Command::new(adapter.join("server")).arg("version").output();
    let has_server = version.is_ok_and(|version| version.status.success());
    if !has_server || !adapter.join(".venv/installed").exists() {
        return skipped("adapters/python/mongodb is not set up");
    }
    all_come_out_as_expected(shipped("mongodb"), &["--report", "html", "--jobs", "2"]);
}

#[test]
fn every_scenario_of_zookeeper_comes_out_as_its_file_says() {
    if !have_system(System::Zookeeper) {
        return;
    }
    all_come_out_as_expected(shipped("zookeeper"), &PAGES);
}

#[test]
fn every_scenario_of_etcd_comes_out_as_its_file_says() {
    if !have_system(System::Etcd) {
        return;
    }
    all_come_out_as_expected(shipped("etcd"), &PAGES);
}

/// A comparison of locks by a `[matrix]`, and every report that it writes.
#[test]
fn a_comparison_comes_out_as_expected_and_leaves_its_reports() {
    if !have_server() {
        return;
    }
    let out = tempfile::tempdir().expect("a temporary folder can be made");
    // The other one takes servers of all systems, and some minutes.
    let quick = |scenario: &String| scenario.contains("load-without-faults");
    for scenario in shipped("compare").into_iter().filter(quick) {
        let output = run_scenario(&scenario, out.path(), &["--seed", "7"]);
        let text = stderr(&output);
        assert!(output.status.success(), "{text}");
        assert!(
            text.starts_with("seed 7, run folder "),
            "the first line tells both:\n{text}"
        );
        let folder = out.path().join("latest");
        for file in [
            "results.json",
            "report.html",
            "matrix.png",
            "junit.xml",
            "report.md",
        ] {
            let size = fs::metadata(folder.join(file)).map_or(0, |data| data.len());
            assert!(size > 500, "{file} has {size} bytes");
        }
    }
}
