//! A harness that is stopped notes it, and says so.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::support::{have_server, lockstorm, stderr, wait_until};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// One client at work for long enough.
const WORK: &str = r#"
name = "work"
topology.single = {}
lock.token = { lease = "20s" }
expect = { mutual-exclusion = "any", lease-overrun = "any" }

[[step]]
acquire = { client = "a", expect = "granted" }

[[step]]
work = { client = "a", for = "2s" }

[[step]]
release = { client = "a", expect = "released" }
"#;

#[test]
fn a_harness_that_was_stopped_says_for_how_long_it_stood_still() {
    if !have_server() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    fs::write(folder.path().join("work.toml"), WORK).expect("the file can be written");
    let child = lockstorm()
        .args(["run", "work.toml", "--progress", "none", "--report", "none"])
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program can be started");
    let history = folder.path().join("runs/work/latest/history.jsonl");
    let latest = folder.path().join("runs/latest/history.jsonl");
    let text = || {
        let bytes = fs::read(&latest).or_else(|_| fs::read(&history));
        String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned()
    };
    wait_until("a holds the lock", || text().contains(r#""type":"ok""#));
    let harness = Pid::from_raw(child.id().cast_signed());
    kill(harness, Signal::SIGSTOP).expect("it lives");
    let stopped = Instant::now();
    // It is to stand still for longer than a beat may be late.
    wait_until("it has stood still", || {
        stopped.elapsed() > Duration::from_millis(800)
    });
    kill(harness, Signal::SIGCONT).expect("it lives");
    let output = child.wait_with_output().expect("it ends by itself");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(text().contains(r#""f":"stall""#), "{}", text());
    let said = stderr(&output);
    assert!(said.contains("the harness stood still for "), "{said}");
}
