//! A suite outlives a run that could not have its servers, and does not outlive the want of any.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::support::{have_server, run_scenario, stderr};
use lockstorm_harness::server::find_program;
use serde_json::Value;

const SCENARIO: &str = "scenarios/library/examples/control-single.toml";

/// A server program that ends at once in its first `failing` starts, and is the real one after.
fn failing_server(folder: &Path, failing: u32) -> PathBuf {
    let asked = std::env::var_os("LOCKSTORM_REDIS_SERVER");
    let real = find_program(asked.as_deref().map(Path::new)).expect("a server is installed");
    let path = folder.join("redis-server");
    let script = format!(
        "#!/bin/sh\n\
         case \"$1\" in --version) exec '{real}' --version;; esac\n\
         n=1\n\
         while [ $n -le {failing} ]; do\n\
         \x20 mkdir \"$0.$n\" 2>/dev/null && echo 'it has no room' >&2 && exit 7\n\
         \x20 n=$((n + 1))\n\
         done\n\
         exec '{real}' \"$@\"\n",
        real = real.path.display(),
    );
    fs::write(&path, script).expect("the folder is ours");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("the file is ours");
    path
}

/// Runs the scenario `repeat` times with a server program that fails `failing` times.
/// Gives the exit code, what was said, and the record of the suite.
fn run_with(failing: u32, repeat: &str, more: &[&str]) -> (Option<i32>, String, Value) {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let server = failing_server(folder.path(), failing);
    let server = server.to_str().expect("temporary folders have plain names");
    let out = folder.path().join("runs");
    let mut args = vec!["--repeat", repeat, "--redis-server", server];
    args.extend(["--report", "html"]);
    args.extend(more);
    let output = run_scenario(SCENARIO, &out, &args);
    let said = stderr(&output);
    let record = fs::read_to_string(out.join("latest/results.json"));
    let record = record.unwrap_or_else(|error| panic!("no record ({error}): {said}"));
    let record = serde_json::from_str(&record).expect("the record is JSON");
    (output.status.code(), said, record)
}

fn count(record: &Value, what: &str) -> usize {
    record[what].as_array().expect("a list").len()
}

#[test]
fn a_run_without_servers_costs_a_suite_this_run_only() {
    if !have_server() {
        return;
    }
    let (code, said, record) = run_with(1, "3", &[]);
    assert_eq!(code, Some(69), "what is missing is not passed over: {said}");
    assert!(said.contains("did not become ready"), "{said}");
    assert_eq!(count(&record, "runs"), 2, "{said}");
    assert_eq!(count(&record, "not_run"), 1, "{said}");
    let reason = record["not_run"][0]["reason"].as_str().expect("a reason");
    assert!(reason.contains("did not become ready"), "{reason}");
    let printed = "it ended with exit status: 7; its log ends with: it has no room";
    assert!(reason.contains(printed), "{reason}");
}

#[test]
fn a_suite_that_is_to_end_fast_ends_with_a_run_without_servers() {
    if !have_server() {
        return;
    }
    let (code, said, record) = run_with(1, "3", &["--fail-fast"]);
    assert_eq!(code, Some(69), "{said}");
    assert_eq!(count(&record, "runs"), 0, "{said}");
    assert_eq!(count(&record, "not_run"), 3, "{said}");
}

#[test]
fn a_suite_without_any_servers_gives_up() {
    if !have_server() {
        return;
    }
    let (code, said, record) = run_with(100, "9", &[]);
    assert_eq!(code, Some(69), "{said}");
    assert_eq!(count(&record, "runs"), 0, "{said}");
    let reasons = record["not_run"].as_array().expect("a list");
    let last = reasons.last().and_then(|last| last["reason"].as_str());
    let last = last.expect("every run has its reason");
    assert!(last.contains("in a row had no servers"), "{last}");
}
