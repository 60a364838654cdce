//! `lockstorm hunt`: the fewest faults that break a lock, and scripts that repeat it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use lockstorm_reports::{Endurance, Found, HuntRecord, Hunted, Record, read_hunt, read_record};
use lockstorm_scenarios::{Promise, System};

use crate::support::situations::{broken_by_file, outcome_of_file};
use crate::support::{TRIES_MAX, have_server, have_system, lockstorm, root, stderr};

/// Times that a hunt goes on which has not found yet what there is.
const GOES_ON_MAX: usize = 5;

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
    let mut output = hunt(out.path(), &["plain-del", "--for", "20s"]);
    let mut hunted = record(out.path(), &output).hunts.remove(0);
    // How far a hunt gets in its time depends on the machine.
    for _ in 0..GOES_ON_MAX {
        if endurance(&hunted, Promise::OwnRelease).broken_with == Some(1) {
            break;
        }
        let folder = folder(out.path());
        let resume = ["--resume", folder.to_str().expect("a plain name")];
        output = hunt(
            out.path(),
            &[&["plain-del", "--for", "20s"], &resume[..]].concat(),
        );
        hunted = record(out.path(), &output).hunts.remove(0);
    }
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let broken_with = endurance(&hunted, Promise::OwnRelease).broken_with;
    assert_eq!(broken_with, Some(1), "{}", stderr(&output));
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
    let output = hunt(out.path(), &["token", "--for", "2s"]);
    let first = record(out.path(), &output).hunts.remove(0);
    let folder = folder(out.path());
    let resume = ["token", "--for", "8s", "--resume", folder.to_str().unwrap()];
    let output = hunt(out.path(), &resume);
    let hunted = record(out.path(), &output).hunts.remove(0);
    let tried = |hunted: &Hunted| {
        let alone = hunted.sizes.iter().find(|size| size.faults == 1);
        alone.map_or(0, |size| size.tried)
    };
    assert!(tried(&hunted) > tried(&first));
    let lines = fs::read_to_string(folder.join("1-token-single/trials.jsonl")).unwrap();
    let lines = lines.lines().filter(|line| !line.contains("missed"));
    assert_eq!(lines.count() as u64, tried(&hunted), "each once");
    for promise in [Promise::Exclusive, Promise::OwnRelease, Promise::Obtainable] {
        let endurance = endurance(&hunted, promise);
        assert_eq!(endurance.broken_with, None, "{}", stderr(&output));
    }
}

/// A lock of a database is hunted at its own messages, and nothing is said of servers of Redis.
#[test]
fn a_lock_of_another_system_is_hunted_at_the_messages_of_its_servers() {
    if !have_system(System::Mariadb) {
        return;
    }
    let out = tempfile::tempdir().unwrap();
    let mut command = lockstorm();
    command.args(["hunt", "mysql-get-lock", "--topology", "mariadb"]);
    command.args([
        "--faults",
        "1",
        "--for",
        "8s",
        "--progress",
        "none",
        "--out",
    ]);
    let output = command.arg(out.path()).output().expect("it can be started");
    let record = record(out.path(), &output);
    assert!(record.server.starts_with("mariadb "), "{}", record.server);
    let hunted = &record.hunts[0];
    let request = "request SELECT of a's acquire".to_owned();
    assert!(hunted.columns.contains(&request), "{:?}", hunted.columns);
    let alone = hunted.sizes.iter().find(|size| size.faults == 1);
    assert!(
        alone.is_some_and(|size| size.tried > 0),
        "{}",
        stderr(&output)
    );
    let mut broken = hunted.found.iter().filter(|one| one.is_promised);
    assert_eq!(broken.next(), None, "{}", stderr(&output));
}

#[test]
fn an_assessment_puts_the_numbers_of_a_hunt_beside_the_price() {
    if !have_server() {
        return;
    }
    let out = tempfile::tempdir().unwrap();
    let mut command = lockstorm();
    command.args([
        "assess",
        "token",
        "--topology",
        "single",
        "--only",
        "plain-use",
    ]);
    command.args(["--hunt", "2s", "--seed", "7", "--progress", "none", "--out"]);
    let output = command.arg(out.path()).output();
    let text = stderr(&output.expect("the program can be started"));
    let folder = fs::canonicalize(out.path().join("latest")).expect("there is an assessment");
    let Ok(Record::Suite(suite)) = read_record(&folder) else {
        panic!("{text}");
    };
    let promises = &suite.hunts[0].promises;
    let exclusive = promises
        .iter()
        .find(|one| one.promise == Promise::Exclusive);
    assert_eq!(
        exclusive.expect("it was tested").broken_with,
        None,
        "{text}"
    );
    assert!(text.contains("fewest faults"), "{text}");
    let page = fs::read_to_string(folder.join("report.html")).unwrap();
    assert!(
        page.contains("hunt/report.html"),
        "the page leads to the hunt"
    );
    let of_hunt = folder.join("hunt/report.html");
    let before = fs::read_to_string(&of_hunt).unwrap();
    fs::remove_file(&of_hunt).unwrap();
    let mut command = lockstorm();
    let output = command.arg("report").arg(folder.join("hunt")).output();
    assert!(output.expect("the program can be started").status.success());
    assert_eq!(fs::read_to_string(&of_hunt).unwrap(), before);
}

/// Shrinks a run that violated something; gives the script.
fn shrink(run: &Path) -> PathBuf {
    let mut command = lockstorm();
    command.args([
        "shrink",
        "--for",
        "60s",
        "--seed",
        "7",
        "--progress",
        "none",
    ]);
    let output = command.arg(run).output();
    let text = stderr(&output.expect("the program can be started"));
    let script = run.join("shrunk.toml");
    assert!(script.exists(), "{text}");
    script
}

/// Tells whether a script violates what it is for in one of a few runs.
fn violates(script: &Path, out: &Path) -> bool {
    let again = || {
        let mut command = lockstorm();
        command.args(["run", "--report", "none", "--progress", "none", "--out"]);
        let output = command.arg(out).arg(script).output();
        output.expect("the program can be started").status.code() == Some(1)
    };
    (0..TRIES_MAX).any(|_| again())
}

/// Runs a scenario; gives the folder of the run.
fn run(scenario: &Path, out: &Path) -> PathBuf {
    let mut command = lockstorm();
    command.args(["run", "--report", "none", "--progress", "none", "--out"]);
    let output = command.arg(out).arg(scenario).output();
    output.expect("the program can be started");
    fs::canonicalize(out.join("latest")).expect("there is a run")
}

#[test]
fn a_script_is_made_shorter_and_violates_the_same() {
    if !have_server() {
        return;
    }
    let out = tempfile::tempdir().unwrap();
    let scenario = root().join("scenarios/library/examples/late-delete-of-anothers-lock.toml");
    let script = shrink(&run(&scenario, out.path()));
    let steps = |path: &Path| fs::read_to_string(path).unwrap().matches("[step.").count();
    let before = steps(&script.with_file_name("scenario.toml"));
    assert!(steps(&script) < before, "{} of {before}", steps(&script));
    assert!(violates(&script, out.path()));
}

#[test]
fn a_storm_becomes_a_script_that_violates_the_same() {
    if !have_server() {
        return;
    }
    let out = tempfile::tempdir().unwrap();
    let storm = out.path().join("storm.toml");
    fs::write(&storm, STORM).unwrap();
    // On a busy machine a script may be one that violates by luck.
    let again = || violates(&shrink(&run(&storm, out.path())), out.path());
    assert!((0..TRIES_MAX).any(|_| again()));
}

/// A client that was refused deletes the lock of another, or leaves it alone.
fn after_a_refusal(release: &str, then: &str) -> String {
    format!(
        r#"
name = "refused"
topology.single = {{}}
lock.plain-del = {{ lease = "30s" }}
step = [
    {{ acquire = {{ client = "a", expect = "granted" }} }},
    {{ acquire = {{ client = "b", expect = "refused" }} }},
    {{ release = {{ client = "b"{release} }} }},
    {{ acquire = {{ client = "c", expect = "{then}" }} }},
    {{ release = {{ client = "a"{release} }} }},
    {{ acquire = {{ client = "d", expect = "granted" }} }},
]
"#
    )
}

#[test]
fn who_was_refused_gives_nothing_back_if_the_script_says_so() {
    if !have_server() {
        return;
    }
    let out = tempfile::tempdir().unwrap();
    let careful = after_a_refusal(", unless-refused = true", "refused");
    let careless = after_a_refusal("", "granted");
    for (n, script) in [careful, careless].iter().enumerate() {
        let path = out.path().join(format!("{n}.toml"));
        fs::write(&path, script).unwrap();
        let run = outcome_of_file(&path, &[]).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(run.stopped, None, "{script}");
    }
}

/// Clients that stay too long, and delete each other's locks.
const STORM: &str = r#"
name = "overruns"
topology.single = {}
lock.plain-del = { lease = "200ms" }
clients = { count = 4, hold = "150ms..400ms" }
storm = { duration = "4s" }
checks.only = ["mutual-exclusion"]
"#;
