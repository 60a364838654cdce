//! However a run ends, nothing of it stays behind: no process, no listener; and what was recorded
//! can be checked.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use crate::support::{have_server, lockstorm, run, servers, stderr, stdout, wait_until};
use lockstorm_scenarios::{Single, Topology};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// A storm that would last for minutes, cut short by each test in its own way.
const LONG_STORM: [&str; 4] = [
    "run",
    "scenarios/library/storms/storm-single.toml",
    "--set",
    "storm.duration=5m",
];

fn start(out: &Path) -> Child {
    lockstorm()
        .args(LONG_STORM)
        .args(["--progress", "none", "--out"])
        .arg(out)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program can be started")
}

/// The run folder, once the load is on: the history grows.
fn wait_for_load(out: &Path) -> PathBuf {
    let history = out.join("latest/history.jsonl");
    wait_until("the history grows", || {
        // The file is longer than what is written there.
        let bytes = fs::read(&history).unwrap_or_default();
        bytes.split(|byte| *byte == b'\n').count() > 300
    });
    fs::canonicalize(out.join("latest")).expect("the link leads to the run folder")
}

/// Process ids of living servers that were started from this run folder.
fn servers_of(folder: &Path) -> Vec<i32> {
    let folder = folder.display().to_string();
    fs::read_dir("/proc")
        .expect("this is Linux")
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|pid| {
            let cwd = fs::read_link(format!("/proc/{pid}/cwd"));
            cwd.is_ok_and(|cwd| cwd.display().to_string().starts_with(&folder))
        })
        .collect()
}

fn signal(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id().cast_signed()), signal).expect("the process is alive");
}

#[test]
fn after_sigkill_of_the_harness_no_server_lives_and_the_history_can_be_checked() {
    if !have_server() {
        return;
    }
    let out = tempfile::tempdir().expect("a temporary folder can be made");
    let mut child = start(out.path());
    let folder = wait_for_load(out.path());
    assert!(
        !servers_of(&folder).is_empty(),
        "the test must see the servers, or proves nothing"
    );
    signal(&child, Signal::SIGKILL);
    child.wait().expect("it is dead");
    wait_until("the servers are gone", || servers_of(&folder).is_empty());
    let history = folder.join("history.jsonl");
    let text = fs::read_to_string(&history).expect("the history is there");
    let events = text.matches('\n').count() - 1;
    let path = history.to_str().expect("a plain name");
    let output = run(&["check", path, "--format", "json"]);
    let all: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    let seen = all[0]["analysis"]["coverage"]["events"]
        .as_u64()
        .expect("the events are counted");
    // A last line without its end may be whole all the same.
    assert!(
        seen as usize == events || seen as usize == events + 1,
        "{seen} of {events} events"
    );
    assert_ne!(
        all[0]["analysis"]["verdict"], "violated",
        "a crash of the harness is no violation"
    );
}

#[test]
fn ctrl_c_once_heals_checks_reports_and_exits_with_130() {
    if !have_server() {
        return;
    }
    let out = tempfile::tempdir().expect("a temporary folder can be made");
    let child = start(out.path());
    let folder = wait_for_load(out.path());
    signal(&child, Signal::SIGINT);
    let output = child.wait_with_output().expect("it ends by itself");
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert!(
        folder.join("report.html").exists(),
        "the report is written all the same"
    );
    let record = fs::read_to_string(folder.join("results.json")).expect("and the results");
    assert!(
        record.contains("interrupted"),
        "and they say why the run is short"
    );
    assert!(servers_of(&folder).is_empty(), "nothing is left behind");
}

#[test]
fn sigterm_ends_in_good_order_too_and_exits_with_143() {
    if !have_server() {
        return;
    }
    let out = tempfile::tempdir().expect("a temporary folder can be made");
    let child = start(out.path());
    let folder = wait_for_load(out.path());
    signal(&child, Signal::SIGTERM);
    let output = child.wait_with_output().expect("it ends by itself");
    assert_eq!(output.status.code(), Some(143), "{}", stderr(&output));
    assert!(servers_of(&folder).is_empty(), "nothing is left behind");
}

#[test]
fn two_runs_at_once_do_not_meet() {
    if !have_server() {
        return;
    }
    let out = tempfile::tempdir().expect("a temporary folder can be made");
    let scenario = "scenarios/library/examples/control-independent.toml";
    let children: Vec<_> = (0..2)
        .map(|n| {
            let out = out.path().join(n.to_string());
            lockstorm()
                .args([
                    "run",
                    scenario,
                    "--seed",
                    "7",
                    "--progress",
                    "none",
                    "--out",
                ])
                .arg(out)
                .stderr(Stdio::piped())
                .spawn()
                .expect("the program can be started")
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().expect("it ends by itself");
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    }
}

/// A server that is killed from outside, not by the nemesis: the run has tested something else
/// than it says, and must not end as expected.
#[test]
fn a_server_that_dies_by_itself_makes_the_run_unknown() {
    if !have_server() {
        return;
    }
    let out = tempfile::tempdir().expect("a temporary folder can be made");
    let child = lockstorm()
        .args([
            "run",
            "scenarios/library/examples/control-single.toml",
            "--set",
            "step.2.work.for=2s",
            "--set",
            "checks.liveness-bound=100ms",
        ])
        .args(["--progress", "none", "--out"])
        .arg(out.path())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program can be started");
    let link = out.path().join("latest");
    wait_until("a server runs", || {
        fs::canonicalize(&link).is_ok_and(|folder| !servers_of(&folder).is_empty())
    });
    let folder = fs::canonicalize(&link).expect("the link leads to the run folder");
    wait_until("the script is under way", || {
        fs::read_to_string(folder.join("history.jsonl")).is_ok_and(|text| text.contains("refused"))
    });
    for pid in servers_of(&folder) {
        kill(Pid::from_raw(pid), Signal::SIGKILL).expect("it is alive");
    }
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("died by itself"),
        "{}",
        stderr(&output)
    );
}

/// A client that was ended may be the last to let go of the servers, on another thread; whoever
/// needs their folder next waits for that.
#[tokio::test]
async fn servers_are_cleared_away_when_the_last_user_has_let_go() {
    if !have_server() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let topology = Topology::Single(Single::default());
    let servers = servers(topology, false, folder.path()).await;
    let data = servers.nodes()[0].data();
    assert!(data.exists(), "{}", data.display());
    let process = servers.nodes()[0].pid().expect("it lives");
    let cleared_away = servers.cleared_away();
    std::thread::spawn(|| drop(servers));
    cleared_away.await;
    assert!(!data.exists(), "{}", data.display());
    assert!(!Path::new(&format!("/proc/{process}")).exists());
}
