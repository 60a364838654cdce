//! A crowd of clients on a system that gives a process few open files unless asked for more.

use std::fs;
use std::process::Command;

use crate::support::{have_server, lockstorm, root};

/// Far fewer than the crowd has connections.
const DESCRIPTORS: u32 = 100;

#[test]
fn a_crowd_of_clients_finds_room_where_few_files_may_be_open_at_first() {
    if !have_server() {
        return;
    }
    let out = tempfile::tempdir().expect("a temporary folder can be made");
    let program = lockstorm().get_program().to_owned();
    let output = Command::new("sh")
        .args(["-c", "ulimit -S -n \"$1\"; shift; exec \"$@\"", "sh"])
        .arg(DESCRIPTORS.to_string())
        .arg(program)
        .args(["run", "scenarios/library/origin/o13-a-hundred-wait.toml"])
        .args(["--report", "none", "--progress", "none", "--out"])
        .arg(out.path())
        .current_dir(root())
        .output()
        .expect("there is a shell");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    // A client that finds no room tries again, so the verdict alone would not tell.
    let history = fs::read_to_string(out.path().join("latest/history.jsonl"));
    let history = history.expect("the run has left its history");
    let in_vain = history.matches("Too many open files").count();
    assert_eq!(in_vain, 0, "connections found no room");
}
