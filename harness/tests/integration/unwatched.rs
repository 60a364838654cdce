//! Runs that nobody watches: errors for machines, time limits, tries, parts of all, and failures
//! that a baseline knows.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Output;

use crate::support::{have_server, lockstorm, stderr, stdout};
use serde_json::Value;

/// A script whose second answer is never what it says.
const UNMET: &str = r#"
name = "unmet"
topology.single = {}
lock.token = { lease = "5s" }

[[step]]
acquire = { client = "a", expect = "granted" }

[[step]]
acquire = { client = "b", expect = "granted" }
"#;

/// Two that hold one lock, though nothing is expected.
const VIOLATED: &str = r#"
name = "violated"
topology.single = {}
lock.none = {}

[[step]]
acquire = { client = "a" }

[[step]]
acquire = { client = "b" }

[[step]]
work = { client = "a", for = "20ms" }
"#;

/// Load that goes on for longer than any test waits.
const ENDLESS: &str = r#"
name = "endless"
topology.single = {}
lock.token = { lease = "5s" }
clients.count = 2
storm.duration = "10m"
"#;

/// A folder with these scenarios.
fn folder(scenarios: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    for (n, text) in scenarios.iter().enumerate() {
        fs::write(folder.path().join(format!("{n}.toml")), text).expect("it takes a file");
    }
    folder
}

/// Runs `lockstorm` in a folder.
fn lockstorm_in(folder: &Path, args: &[&str]) -> Output {
    let mut command = lockstorm();
    command.current_dir(folder).args(args);
    command.output().expect("the program can be started")
}

/// Runs the scenarios of a folder, with nothing written but the record.
fn run_in(folder: &Path, args: &[&str]) -> Output {
    let usual = ["run", "--report", "none", "--progress", "none"];
    lockstorm_in(folder, &[&usual[..], args].concat())
}

fn results(folder: &Path) -> Value {
    let text = fs::read_to_string(folder.join("runs/latest/results.json"));
    serde_json::from_str(&text.expect("there is a record")).expect("it is JSON")
}

#[test]
fn mistakes_of_a_scenario_are_told_to_machines_at_their_lines() {
    let folder = folder(&[&UNMET.replacen("granted", "grented", 1)]);
    for command in ["run", "validate"] {
        let output = lockstorm_in(folder.path(), &[command, "0.toml", "--format", "github"]);
        assert_eq!(output.status.code(), Some(65), "{}", stderr(&output));
        let told = stdout(&output);
        let pinned = "::error file=0.toml,line=7,title=lockstorm::unknown word 'grented'";
        assert!(told.starts_with(pinned), "{told}");
        let output = lockstorm_in(folder.path(), &[command, "0.toml", "--format", "junit"]);
        let told = stdout(&output);
        assert!(told.contains("<testcase name=\"0.toml:7\">"), "{told}");
        assert!(told.contains("errors=\"1\""), "{told}");
    }
}

#[test]
fn a_missing_server_is_told_to_machines() {
    let folder = folder(&[UNMET]);
    let args = ["0.toml", "--redis-server", "/no/such/server", "--format"];
    let output = run_in(folder.path(), &[&args[..], &["github"]].concat());
    assert_eq!(output.status.code(), Some(69), "{}", stderr(&output));
    let told = stdout(&output);
    assert!(told.starts_with("::error title=lockstorm::"), "{told}");
    assert!(told.contains("/no/such/server"), "{told}");
    let output = run_in(folder.path(), &[&args[..], &["junit"]].concat());
    assert!(
        stdout(&output).contains("/no/such/server"),
        "{}",
        stdout(&output)
    );
}

#[test]
fn a_run_that_takes_too_long_is_ended_and_could_not_tell() {
    if !have_server() {
        return;
    }
    let folder = folder(&[ENDLESS]);
    let output = run_in(folder.path(), &["0.toml", "--timeout", "300ms"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    let stopped = results(folder.path())["stopped"].clone();
    let stopped = stopped.as_str().expect("it was stopped");
    assert!(
        stopped.contains("took longer than 300ms, see --timeout"),
        "{stopped}"
    );
}

#[test]
fn what_proves_nothing_is_tried_again_and_a_violation_is_not() {
    if !have_server() {
        return;
    }
    let folder = folder(&[UNMET, VIOLATED]);
    let output = run_in(folder.path(), &["0.toml", "--retries", "2"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let record = results(folder.path());
    let earlier = record["earlier"].as_array().expect("it was tried before");
    assert_eq!(earlier.len(), 2);
    for before in earlier {
        let name = before["folder"].as_str().expect("it has a folder");
        let stored = folder.path().join("runs/latest").join(name);
        assert!(stored.join("history.jsonl").is_file(), "{name}");
        assert!(stored.join("results.json").is_file(), "{name}");
    }
    assert!(
        stderr(&output).contains("tried 3 times"),
        "{}",
        stderr(&output)
    );
    let output = run_in(folder.path(), &["1.toml", "--retries", "2"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert_eq!(results(folder.path())["earlier"], Value::Null);
}

#[test]
fn parts_of_all_runs_are_all_of_them_and_none_twice() {
    if !have_server() {
        return;
    }
    let folder = folder(&[UNMET, VIOLATED]);
    let all = ["0.toml", "1.toml", "--repeat", "2", "--seed", "7"];
    let seeds = |more: &[&str]| -> Vec<u64> {
        let output = run_in(folder.path(), &[&all[..], more].concat());
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        let record = results(folder.path());
        let runs = record["runs"].as_array().expect("it is a suite");
        let seed = |run: &Value| run["record"]["seed"].as_u64().expect("it has a seed");
        runs.iter().map(seed).collect()
    };
    let whole: BTreeSet<u64> = seeds(&[]).into_iter().collect();
    assert_eq!(whole.len(), 4, "each run has a seed of its own");
    let parts = ["1/3", "2/3", "3/3"].map(|part| seeds(&["--shard", part]));
    assert_eq!(parts.iter().map(Vec::len).collect::<Vec<_>>(), [2, 1, 1]);
    assert_eq!(parts.into_iter().flatten().collect::<BTreeSet<_>>(), whole);
    let output = run_in(folder.path(), &["0.toml", "--shard", "2/2"]);
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
}

#[test]
fn an_expectation_can_count_the_runs_that_are_violated() {
    if !have_server() {
        return;
    }
    let expecting = |runs: &str| {
        let expect = format!(
            "expect = {{ mutual-exclusion = {{ violated = {runs:?} }}, lost-lock = \"any\" }}"
        );
        format!("{expect}\n{VIOLATED}")
    };
    let folder = folder(&[&expecting("1.."), &expecting("..1"), &expecting("5..3")]);
    for (file, repeat, code, found) in [
        (
            "0.toml",
            "3",
            0,
            "mutual exclusion violated in 3 of 3 runs, as expected",
        ),
        (
            "0.toml",
            "1",
            0,
            "mutual exclusion violated in 1 of 1 run, as expected",
        ),
        (
            "1.toml",
            "3",
            1,
            "violated in 3 of 3 runs, where at most 1 were expected",
        ),
    ] {
        let all = [file, "--repeat", repeat, "--format", "github"];
        let output = run_in(folder.path(), &all);
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        let told = stderr(&output)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        assert!(told.contains(found), "{told}");
        let annotated = stdout(&output).contains(&format!("::error file={file},line=1"));
        assert_eq!(annotated, code == 1, "{}", stdout(&output));
    }
    // Runs that are counted stay in one part.
    let parts = ["0.toml", "--repeat", "3", "--shard", "1/2"];
    let output = run_in(folder.path(), &parts);
    assert!(
        stderr(&output).contains("3 of 3 runs"),
        "{}",
        stderr(&output)
    );
    let output = run_in(folder.path(), &["2.toml"]);
    assert_eq!(output.status.code(), Some(65), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("no number of runs"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn failures_that_the_baseline_has_fail_nothing_where_only_new_ones_count() {
    if !have_server() {
        return;
    }
    let folder = folder(&[VIOLATED, UNMET]);
    let output = run_in(folder.path(), &["0.toml", "--out", "before"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let known = ["--baseline", "before/latest"];
    let only_new = [&known[..], &["--fail-on", "new"]].concat();
    let again = |args: &[&str]| run_in(folder.path(), args);
    let output = again(&[&["0.toml"], &known[..]].concat());
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let output = again(&[&["0.toml"], &only_new[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("only failures that the baseline does not have count"),
        "{}",
        stderr(&output)
    );
    let output = again(&[&["0.toml", "--format", "github"], &only_new[..]].concat());
    let annotations = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(annotations.contains("title=known%3A"), "{annotations}");
    assert!(!annotations.contains("::error"), "{annotations}");
    let output = again(&[&["0.toml", "1.toml"], &only_new[..]].concat());
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    // What was not reached is not cleared by a failure that was known.
    let fast = ["0.toml", "1.toml", "--fail-fast"];
    let output = again(&[&fast[..], &only_new[..]].concat());
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    let output = again(&["0.toml", "--fail-on", "new"]);
    assert_eq!(output.status.code(), Some(64), "{}", stderr(&output));
}
