//! Exit codes of runs: each from a run that earns it, on real servers. A verdict that could not
//! come out otherwise would fail here.

use std::fs;
use std::path::PathBuf;

use crate::support::{have_server, run_scenario, stderr, stdout};

const FAILOVER: &str = "scenarios/library/examples/failover-loses-the-lock.toml";
const CONTROL: &str = "scenarios/library/examples/control-single.toml";

/// Runs a scenario, and gives its exit code with what it said.
fn outcome(scenario: &str, more: &[&str]) -> (Option<i32>, String) {
    let out = tempfile::tempdir().expect("a temporary folder can be made");
    let mut args = vec!["--report", "none"];
    args.extend(more);
    let output = run_scenario(scenario, out.path(), &args);
    (output.status.code(), stderr(&output))
}

/// A scenario of this test's own, in a folder that lives as long as the guard.
fn written(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("scenario.toml");
    fs::write(&path, text).expect("the file can be written");
    (folder, path)
}

#[test]
fn a_violation_that_nobody_expected_exits_with_1() {
    if !have_server() {
        return;
    }
    let (code, text) = outcome(FAILOVER, &["--set", "expect.mutual-exclusion=valid"]);
    assert_eq!(code, Some(1), "{text}");
}

#[test]
fn an_expected_violation_that_does_not_appear_exits_with_1() {
    if !have_server() {
        return;
    }
    let (code, text) = outcome(CONTROL, &["--set", "expect.mutual-exclusion=violated"]);
    assert_eq!(code, Some(1), "{text}");
}

/// The replica has every grant before the primary dies: a failover that does no harm, and a
/// scenario that claims harm must fail.
#[test]
fn a_failover_without_the_cut_loses_nothing_and_fails_the_scenario_that_says_so() {
    if !have_server() {
        return;
    }
    let (_folder, path) = written(
        r#"name = "failover-after-replication"
expect = { mutual-exclusion = "violated" }
topology.replicated = { replicas = 1 }
lock.token = { lease = "2s" }
[[step]]
acquire = { client = "a", expect = "granted" }
[[step]]
work = { client = "a", for = "500ms" }
[[step]]
kill = { node = "primary" }
[[step]]
promote = { node = "replica-1" }
[[step]]
acquire = { client = "b", expect = "refused" }
"#,
    );
    let (code, text) = outcome(path.to_str().expect("a plain name"), &[]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("mutual exclusion: no violation"), "{text}");
}

#[test]
fn a_run_without_contention_is_vacuous_and_exits_with_2() {
    if !have_server() {
        return;
    }
    let (_folder, path) = written(
        r#"name = "nobody-else"
topology.single = {}
lock.token = { lease = "2s" }
[[step]]
acquire = { client = "a", expect = "granted" }
[[step]]
release = { client = "a", expect = "released" }
"#,
    );
    let (code, text) = outcome(path.to_str().expect("a plain name"), &[]);
    assert_eq!(code, Some(2), "{text}");
}

#[test]
fn a_fault_without_effect_stops_the_script_and_exits_with_2() {
    if !have_server() {
        return;
    }
    let (_folder, path) = written(
        r#"name = "nothing-to-delete"
topology.single = {}
lock.token = { lease = "2s" }
[[step]]
acquire = { client = "a", expect = "granted" }
[[step]]
acquire = { client = "b", expect = "refused" }
[[step]]
release = { client = "a", expect = "released" }
[[step]]
delete-key = { key = "lock" }
"#,
    );
    let (code, text) = outcome(path.to_str().expect("a plain name"), &[]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("no observed effect"), "{text}");
}

#[test]
fn a_stuck_lock_alone_exits_with_3() {
    if !have_server() {
        return;
    }
    let scenario = "scenarios/library/examples/setnx-without-expire.toml";
    let (code, text) = outcome(scenario, &["--set", "expect.liveness=valid"]);
    assert_eq!(code, Some(3), "{text}");
}

#[test]
fn the_same_seed_gives_the_same_scenario_and_the_command_to_repeat_it_works() {
    if !have_server() {
        return;
    }
    let out = tempfile::tempdir().expect("a temporary folder can be made");
    let first = run_scenario(CONTROL, out.path(), &["--seed", "42", "--format", "json"]);
    let record: serde_json::Value = serde_json::from_str(&stdout(&first)).expect("one document");
    assert_eq!(record["seed"], 42);
    let rerun = record["rerun"].as_str().expect("a command");
    assert!(rerun.contains("lockstorm run ") && rerun.contains("--seed 42"));
    let pasted = std::process::Command::new("sh")
        .args(["-c", &format!("exec {rerun} --format json")])
        .env("LOCKSTORM_OUT", out.path())
        .current_dir(crate::support::root())
        .output()
        .expect("there is a shell");
    assert_eq!(pasted.status.code(), Some(0), "{}", stderr(&pasted));
    let again: serde_json::Value = serde_json::from_str(&stdout(&pasted)).expect("one document");
    assert_eq!(again["seed"], 42);
    assert_eq!(again["expectations"], record["expectations"]);
    let stored = out.path().join("latest/scenario.toml");
    let stored = run_scenario(
        stored.to_str().expect("plain"),
        out.path(),
        &["--seed", "42"],
    );
    assert_eq!(stored.status.code(), Some(0), "{}", stderr(&stored));
}

/// Each run of a suite, by the command that its own record names.
#[test]
fn the_command_of_one_run_of_a_suite_repeats_it_on_the_same_ground() {
    if !have_server() {
        return;
    }
    let (folder, path) = written(
        "name = \"bed\"\nchecks.only = [\"mutual-exclusion\"]\n\
         topology.single = {}\nlock.token = { lease = \"2s\" }\n\
         [[step]]\nacquire = { client = \"a\", expect = \"granted\" }\n",
    );
    let path = path.to_str().expect("plain");
    let out = folder.path().join("it's here");
    let more = [
        "--repeat",
        "2",
        "--port",
        "26391",
        "--set",
        "lock.token.lease=3s",
    ];
    let suite = run_scenario(path, &out, &more);
    let records = records(&out);
    assert_eq!(records.len(), 2, "{}", stderr(&suite));
    for record in records {
        let rerun = record["rerun"].as_str().expect("a command");
        let pasted = std::process::Command::new("sh")
            .args(["-c", &format!("exec {rerun} --format json --report none")])
            .env("LOCKSTORM_OUT", folder.path().join("again"))
            .current_dir(crate::support::root())
            .output()
            .expect("there is a shell");
        let again: serde_json::Value = serde_json::from_str(&stdout(&pasted))
            .unwrap_or_else(|_| panic!("{}", stderr(&pasted)));
        for at in ["/seed", "/labels", "/expectations"] {
            assert_eq!(again.pointer(at), record.pointer(at), "{at} after {rerun}");
        }
        let address = again.pointer("/environment/nodes/0/address");
        let address = address
            .and_then(serde_json::Value::as_str)
            .expect("an address");
        assert!(address.ends_with(":26391"), "{address}");
    }
}

/// Stored record of each run in this folder and those below it.
fn records(folder: &std::path::Path) -> Vec<serde_json::Value> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("there is such a folder") {
        let entry = entry.expect("it can be listed");
        // Links lead to runs that are found anyway.
        if entry.file_type().expect("it has a type").is_dir() {
            found.extend(records(&entry.path()));
        } else if entry.file_name() == "results.json" {
            let text = fs::read_to_string(entry.path()).expect("it can be read");
            let record: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
            found.extend(Some(record).filter(|record| record["environment"].is_object()));
        }
    }
    found
}
