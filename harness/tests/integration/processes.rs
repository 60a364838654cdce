//! Clients that are processes: the same verdicts as of tasks, real signals, and nothing left.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};

use crate::support::{have_server, lockstorm, run_scenario, stderr, wait_until};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value as Json, json};

const LIBRARY: &str = "scenarios/library";

/// Runs a scenario with clients of this kind; gives the verdict of each property, of all its runs.
fn verdicts(scenario: &str, kind: &str, out: &Path, more: &[&str]) -> BTreeMap<String, Json> {
    let set = format!("clients.kind={kind}");
    let mut args = vec!["--set", &set, "--report", "none"];
    args.extend(more);
    let output = run_scenario(scenario, out, &args);
    assert!(
        output.status.success(),
        "{scenario} with clients of the kind {kind}:\n{}",
        stderr(&output)
    );
    let text = fs::read_to_string(out.join("latest/results.json")).expect("there are results");
    let results: Json = serde_json::from_str(&text).expect("they are JSON");
    let mut verdicts = BTreeMap::new();
    collect(&results, "", &mut verdicts);
    assert!(
        !verdicts.is_empty(),
        "no verdict was found in the results of {scenario}"
    );
    verdicts
}

/// Every `actual` of the expectations, by where it stands.
fn collect(value: &Json, path: &str, into: &mut BTreeMap<String, Json>) {
    match value {
        Json::Object(fields) => {
            if let (Some(property), Some(actual)) = (fields.get("property"), fields.get("actual")) {
                into.insert(format!("{path}{property}"), actual.clone());
            }
            for (key, value) in fields {
                collect(value, &format!("{path}{key}."), into);
            }
        }
        Json::Array(elements) => {
            // Only a process can hang or crash by itself.
            let of_both = |element: &&Json| element.get("property") != Some(&json!("progress"));
            for (n, element) in elements.iter().filter(of_both).enumerate() {
                collect(element, &format!("{path}{n}."), into);
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}

fn same_for_both_kinds(scenario: &str) {
    same_with(scenario, &[]);
}

/// Compares both kinds of clients by a situation with Redisson's lock, which renews what it holds.
fn same_of_a_watchdog(situation: &str) {
    // A watchdog that a busy machine does not keep from its work.
    let lock = "lock={ redisson = { watchdog = '2s' } }";
    let sets = ["--set", lock, "--set", "topology={ single = {} }"];
    same_with(&format!("{LIBRARY}/situations/{situation}.toml"), &sets);
}

fn same_with(scenario: &str, more: &[&str]) {
    if !have_server() {
        return;
    }
    let out = tempfile::tempdir().expect("a temporary folder can be made");
    let tasks = verdicts(scenario, "task", out.path(), more);
    let processes = verdicts(scenario, "process", out.path(), more);
    assert_eq!(tasks, processes, "{scenario}");
}

#[test]
fn the_control_says_the_same_of_tasks_and_of_processes() {
    same_for_both_kinds(&format!("{LIBRARY}/examples/control-single.toml"));
}

#[test]
fn a_pause_beyond_the_lease_says_the_same_of_tasks_and_of_processes() {
    same_for_both_kinds(&format!(
        "{LIBRARY}/examples/client-pause-beyond-the-lease-single.toml"
    ));
}

#[test]
fn a_lost_write_says_the_same_of_tasks_and_of_processes() {
    same_for_both_kinds(&format!("{LIBRARY}/examples/failover-loses-the-lock.toml"));
}

#[test]
fn a_watchdog_that_stops_with_its_client_says_the_same_of_tasks_and_of_processes() {
    same_of_a_watchdog("dead-client-stops-renewing");
}

#[test]
fn a_watchdog_that_stalls_says_the_same_of_tasks_and_of_processes() {
    same_of_a_watchdog("watchdog-stalls");
}

#[test]
fn a_watchdog_that_outlives_its_thread_says_the_same_of_tasks_and_of_processes() {
    same_of_a_watchdog("thread-dies");
}

/// Renewals fall due only for who holds something.
#[test]
fn a_watchdog_that_has_nothing_to_renew_is_not_seen_to_stall() {
    if !have_server() {
        return;
    }
    for kind in ["task", "process"] {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let scenario = folder.path().join("idle.toml");
        let text = format!(
            r#"name = "idle"
topology.single = {{}}
lock.token = {{ lease = "900ms", renew-every = "300ms" }}
clients.kind = "{kind}"
[[step]]
acquire = {{ client = "b", expect = "granted" }}
[[step]]
acquire = {{ client = "a", expect = "refused" }}
[[step]]
stall-watchdog = {{ client = "a" }}
[[step]]
work = {{ client = "b", for = "500ms" }}
[[step]]
release = {{ client = "b", expect = "released" }}
"#
        );
        fs::write(&scenario, text).expect("the file can be written");
        let out = folder.path().join("runs");
        let path = scenario.to_str().expect("a plain name");
        let output = run_scenario(path, &out, &["--report", "none"]);
        assert!(!output.status.success(), "it must not pass for a test");
        let seen = observations(&out);
        assert!(!seen.contains("\"observed\""), "{seen}");
    }
}

#[test]
fn the_guarded_orders_say_the_same_of_tasks_and_of_processes() {
    same_for_both_kinds("scenarios/library/origin/o01-orders-with-the-lock.toml");
}

#[test]
fn ten_contenders_say_the_same_of_tasks_and_of_processes() {
    same_for_both_kinds("scenarios/library/storms/storm-crowd.toml");
}

/// Kills whoever takes the writes while `a` holds, on these servers, and sees to it that the
/// process `b` goes on elsewhere: gives what it says of that.
fn goes_on_elsewhere(topology: &str, victim: &str) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("elsewhere.toml");
    let scenario = format!(
        r#"name = "elsewhere"
checks.only = ["liveness"]
topology.{topology}
lock.token = {{ lease = "1s" }}
clients.kind = "process"
[[step]]
acquire = {{ client = "b", expect = "granted" }}
[[step]]
release = {{ client = "b", expect = "released" }}
[[step]]
acquire = {{ client = "a", expect = "granted" }}
[[step]]
acquire = {{ client = "b", expect = "refused" }}
[[step]]
kill = {{ node = "{victim}" }}
[[step]]
acquire = {{ client = "b", wait = "25s", expect = "granted" }}
"#
    );
    fs::write(&path, scenario).expect("the file can be written");
    let out = folder.path().join("runs");
    let path = path.to_str().expect("a plain name");
    let output = run_scenario(path, &out, &["--report", "none"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let history = fs::read_to_string(out.join("latest/history.jsonl")).expect("there is a history");
    let of_b = |line: &&str| line.contains("\"routed\"") && line.contains("\"owner\":\"b\"");
    history
        .lines()
        .filter(of_b)
        .map(|line| {
            let event: Json = serde_json::from_str(line).expect("it is JSON");
            let to = event["value"]["route"]["to"].as_str();
            to.expect("it says where to").to_owned()
        })
        .collect()
}

#[test]
fn a_process_asks_the_sentinels_who_is_primary_and_says_where_it_goes() {
    if !have_server() {
        return;
    }
    let places = goes_on_elsewhere("sentinel = { replicas = 1 }", "primary");
    assert_eq!(places.first().map(String::as_str), Some("primary"));
    assert_eq!(places.last().map(String::as_str), Some("replica-1"));
}

#[test]
fn a_process_finds_its_way_through_a_cluster_and_says_where_it_goes() {
    if !have_server() {
        return;
    }
    let cluster = "cluster = { shards = 3, replicas = 1 }";
    let places = goes_on_elsewhere(cluster, "holder-of:lock");
    assert_eq!(places.first().map(String::as_str), Some("shard-2"));
    assert_ne!(places.last(), places.first(), "{places:?}");
}

/// Lines in which the nemesis tells of its faults.
fn observations(out: &Path) -> String {
    let history = fs::read_to_string(out.join("latest/history.jsonl")).expect("there is a history");
    let faults = history.lines().filter(|line| line.contains("\"fault\""));
    faults.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_paused_process_is_seen_stopped_and_a_killed_one_gone() {
    if !have_server() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let scenario = folder.path().join("signals.toml");
    fs::write(
        &scenario,
        r#"name = "signals"
expect = { lease-overrun = "any" }
topology.single = {}
lock.token = { lease = "1s" }
clients.kind = "process"
[[step]]
acquire = { client = "a", expect = "granted" }
[[step]]
acquire = { client = "b", expect = "refused" }
[[step]]
pause-client = { client = "a" }
[[step]]
heal = { fault = "pause-client", client = "a" }
[[step]]
pause-client = { client = "b" }
[[step]]
heal = { fault = "pause-client", client = "b" }
[[step]]
kill-client = { client = "a" }
[[step]]
acquire = { client = "b", wait = "5s", expect = "granted" }
"#,
    )
    .expect("the file can be written");
    let out = folder.path().join("runs");
    let path = scenario.to_str().expect("a plain name");
    let output = run_scenario(path, &out, &["--report", "none"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let seen = observations(&out);
    assert!(seen.contains("is in state T (stopped)"), "{seen}");
    assert!(seen.contains("is gone"), "{seen}");
}

/// A storm of processes that would last for minutes.
fn start(out: &Path) -> Child {
    lockstorm()
        .args(["run", "scenarios/library/storms/storm-single.toml"])
        .args([
            "--set",
            "storm.duration=5m",
            "--set",
            "clients.kind=process",
        ])
        .args(["--progress", "none", "--report", "none", "--out"])
        .arg(out)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program can be started")
}

/// Living workers that this process has started, by way of the guardian.
fn workers_of(harness: &Child) -> Vec<i32> {
    let harness = harness.id().cast_signed();
    let of_harness = |pid: &i32| is_worker(*pid) && parent(*pid).and_then(parent) == Some(harness);
    fs::read_dir("/proc")
        .expect("this is Linux")
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(of_harness)
        .collect()
}

/// Tells whether this is a living worker: the dead that wait for their burial have no command line.
fn is_worker(pid: i32) -> bool {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.ends_with(b"\0worker\0")
}

fn parent(pid: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
}

/// Starts the storm, waits until it is under way and gives its workers.
fn storm(out: &Path) -> (Child, Vec<i32>) {
    let child = start(out);
    let history = out.join("latest/history.jsonl");
    wait_until("the history grows", || {
        // The file is longer than what is written there.
        let bytes = fs::read(&history).unwrap_or_default();
        bytes.split(|byte| *byte == b'\n').count() > 300
    });
    let workers = workers_of(&child);
    assert_eq!(workers.len(), 6, "each client is a process");
    (child, workers)
}

#[test]
fn after_sigkill_of_the_harness_no_worker_lives_not_even_one_that_is_stopped() {
    if !have_server() {
        return;
    }
    let out = tempfile::tempdir().expect("a temporary folder can be made");
    let (mut child, workers) = storm(out.path());
    kill(Pid::from_raw(workers[0]), Signal::SIGSTOP).expect("it lives");
    child.kill().expect("it lives");
    child.wait().expect("it is dead");
    wait_until("the workers are gone", || {
        !workers.iter().any(|&pid| is_worker(pid))
    });
}

#[test]
fn after_ctrl_c_no_worker_lives() {
    if !have_server() {
        return;
    }
    let out = tempfile::tempdir().expect("a temporary folder can be made");
    let (child, workers) = storm(out.path());
    kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGINT).expect("it lives");
    let output = child.wait_with_output().expect("it ends by itself");
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert!(!workers.iter().any(|&pid| is_worker(pid)));
}

/// Killed from outside, not by the nemesis: the rest of the storm would test something else than it
/// says, and is not waited for.
#[test]
fn a_worker_that_somebody_else_kills_is_reported_with_its_log() {
    if !have_server() {
        return;
    }
    let out = tempfile::tempdir().expect("a temporary folder can be made");
    let (child, workers) = storm(out.path());
    kill(Pid::from_raw(workers[0]), Signal::SIGKILL).expect("it lives");
    let output = child.wait_with_output().expect("it ends by itself");
    let text = stderr(&output);
    assert!(
        text.contains("somebody else ended it with SIGKILL"),
        "{text}"
    );
    assert!(text.contains("/clients/c"), "the place is named: {text}");
}
