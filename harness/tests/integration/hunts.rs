//! `lockstorm hunt`: the fewest faults that break a lock, and scripts that repeat it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use lockstorm_reports::{Endurance, Found, HuntRecord, Hunted, read_hunt};
use lockstorm_scenarios::Promise;

use crate::support::situations::broken_by_file;
use crate::support::{TRIES_MAX, have_server, lockstorm, stderr};

/// A hunt for single faults on one server, in `out`.
fn hunt(out: &Path, args: &[&str]) -> Output {
    let mut command = lockstorm();
    command.args(["hunt", "--topology", "single", "--faults", "1"]);
    command.args(["--progress", "none", "--seed", "7", "--out"]);
    let output = command.arg(out).args(args).output();
    output.expect("the program can be started")
}

/// The folder of the only hunt below `out`.
fn folder(out: &Path) -> PathBuf {
    let mut inside = fs::read_dir(out.join("hunt")).expect("there is a hunt");
    let only = inside.next().expect("there is one");
    only.expect("it can be read").path()
}

fn record(out: &Path, output: &Output) -> HuntRecord {
    read_hunt(&folder(out)).unwrap_or_else(|error| panic!("{error}\n{}", stderr(output)))
}

fn endurance(hunted: &Hunted, promise: Promise) -> &Endurance {
    let mut promises = hunted.promises.iter();
    let found = promises.find(|endurance| endurance.promise == promise);
    found.expect("it was put to the test")
}

#[test]
fn a_known_bad_lock_is_broken_by_one_fault_and_the_script_repeats_it() {
    if !have_server() {
        return;
    }
    let out = tempfile::tempdir().unwrap();
    let output = hunt(out.path(), &["plain-del", "--for", "20s"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let hunted = &record(out.path(), &output).hunts[0];
    assert_eq!(endurance(hunted, Promise::OwnRelease).broken_with, Some(1));
    let of_others = |found: &&Found| found.promise == Promise::OwnRelease && found.is_confirmed();
    let found = hunted.found.iter().find(of_others);
    let found = found.unwrap_or_else(|| panic!("{}", stderr(&output)));
    let script = folder(out.path()).join(&found.file);
    let repeats = (0..TRIES_MAX).any(|_| broken_by_file(&script).contains(&Promise::OwnRelease));
    assert!(repeats, "{}", script.display());
    let page = fs::read_to_string(folder(out.path()).join("report.html")).unwrap();
    assert!(page.contains("own-release"), "the page names the promise");
    let run = folder(out.path()).join(&found.run).join("report.html");
    assert!(run.exists(), "the story has its page");
}

#[test]
fn a_correct_lock_keeps_its_promises_and_a_hunt_goes_on_where_it_was_ended() {
    if !have_server() {
        return;
    }
    let out = tempfile::tempdir().unwrap();
    let output = hunt(out.path(), &["token", "--for", "3s"]);
    let first = record(out.path(), &output).hunts.remove(0);
    let folder = folder(out.path());
    let resume = [
        "token",
        "--for",
        "12s",
        "--resume",
        folder.to_str().unwrap(),
    ];
    let output = hunt(out.path(), &resume);
    let hunted = record(out.path(), &output).hunts.remove(0);
    assert!(hunted.sizes[0].tried > first.sizes[0].tried);
    let lines = fs::read_to_string(folder.join("1-token-single/trials.jsonl")).unwrap();
    assert_eq!(
        lines.lines().count() as u64,
        hunted.sizes[0].tried,
        "each once"
    );
    for promise in [Promise::Exclusive, Promise::OwnRelease, Promise::Obtainable] {
        let endurance = endurance(&hunted, promise);
        assert_eq!(endurance.broken_with, None, "{}", stderr(&output));
    }
}
