//! The folder of a run that somebody else has made: nothing is read or written outside of it, and
//! nothing without an end.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::support::{run, said as all_said, stderr};
use serde_json::{Value, json};
use tempfile::TempDir;

const INVALID: i32 = 65;
const SECRET: &str = "x9Jk2-never-shown";

fn plain(path: &Path) -> &str {
    path.to_str().expect("temporary folders have plain names")
}

/// A run folder: a history without a violation, made into one by `report`.
fn stored() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    store(folder.path());
    folder
}

fn store(folder: &Path) {
    fs::create_dir_all(folder).expect("the folder is ours");
    let event = |kind: &str, function: &str, time: u64| {
        json!({ "type": kind, "process": 0, "f": function, "key": "k", "time": time,
            "value": { "owner": "a", "lease_ms": 1000 } })
        .to_string()
    };
    let events = [
        event("invoke", "acquire", 100_000_000),
        event("ok", "acquire", 200_000_000),
        event("invoke", "release", 300_000_000),
        event("ok", "release", 400_000_000),
    ];
    let history = folder.join("history.jsonl");
    fs::write(&history, events.join("\n") + "\n").expect("the folder is ours");
    let output = run(&[
        "report",
        plain(&history),
        "--out",
        plain(folder),
        "--report",
        "md",
    ]);
    assert!(folder.join("results.json").is_file(), "{}", stderr(&output));
}

fn replace(path: &Path, target: &Path) {
    let _ = fs::remove_file(path);
    symlink(target, path).expect("the folder is ours");
}

#[test]
fn a_link_out_of_a_run_folder_is_not_followed() {
    let folder = stored();
    let secret = folder.path().join("shadow");
    fs::write(&secret, SECRET).expect("the folder is ours");
    replace(&folder.path().join("scenario.toml"), &secret);
    let output = run(&["report", plain(folder.path()), "--report", "html"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let said = stderr(&output);
    assert!(
        said.contains("scenario.toml is left out: it is a link"),
        "{said}"
    );
    let page = fs::read_to_string(folder.path().join("report.html")).expect("it was written");
    assert!(!page.contains(SECRET));

    replace(&folder.path().join("history.jsonl"), &secret);
    for command in ["check", "export"] {
        let mut args = vec![command, plain(folder.path())];
        args.extend(
            (command == "export")
                .then_some(["--format", "edn"])
                .iter()
                .flatten(),
        );
        let output = run(&args);
        let said = all_said(&output);
        assert_ne!(output.status.code(), Some(0), "{said}");
        assert!(!said.contains(SECRET), "{said}");
    }
    let said = stderr(&run(&["report", plain(folder.path()), "--report", "html"]));
    assert!(
        said.contains("history.jsonl cannot be opened: it is a link"),
        "{said}"
    );
}

#[test]
fn a_record_that_has_no_end_is_not_read() {
    let folder = stored();
    let record = folder.path().join("results.json");
    replace(&record, Path::new("/dev/zero"));
    let output = run(&["report", plain(folder.path()), "--report", "html"]);
    assert_eq!(output.status.code(), Some(INVALID));
    assert!(
        stderr(&output).contains("it is a link"),
        "{}",
        stderr(&output)
    );

    fs::remove_file(&record).expect("the folder is ours");
    let made = Command::new("mkfifo").arg(&record).status();
    assert!(made.is_ok_and(|status| status.success()));
    let output = run(&["report", plain(folder.path()), "--report", "html"]);
    assert_eq!(output.status.code(), Some(INVALID));
    assert!(
        stderr(&output).contains("a pipe or a device"),
        "{}",
        stderr(&output)
    );

    fs::remove_file(&record).expect("the folder is ours");
    let long = fs::File::create(&record).expect("the folder is ours");
    long.set_len(1 << 34).expect("holes take no space");
    let output = run(&["report", plain(folder.path()), "--report", "html"]);
    assert_eq!(output.status.code(), Some(INVALID));
    assert!(
        stderr(&output).contains("larger than"),
        "{}",
        stderr(&output)
    );
}

/// The record of a suite says where its runs are, and may say anything.
#[test]
fn a_suite_renders_no_run_outside_of_its_folder() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let (suite, other) = (folder.path().join("suite"), folder.path().join("other"));
    store(&suite.join("inner"));
    store(&other);
    let output = run(&[
        "report",
        plain(&suite.join("inner")),
        plain(&other),
        "--out",
        plain(&suite),
        "--report",
        "md",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let record = fs::read_to_string(suite.join("results.json")).expect("it was written");
    let record: Value = serde_json::from_str(&record).expect("it is JSON");
    let folders: Vec<_> = record["runs"].as_array().expect("a list").iter().collect();
    assert_eq!(
        folders[1]["folder"], "../other",
        "the test needs one that is elsewhere"
    );
    for run in [&suite.join("inner"), &other] {
        fs::remove_file(run.join("report.md")).expect("it was written");
    }
    let output = run(&["report", plain(&suite), "--report", "md"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("1 of the runs are not inside"),
        "{}",
        stderr(&output)
    );
    assert!(suite.join("inner/report.md").is_file());
    assert!(!other.join("report.md").exists());
}

#[test]
fn a_suite_whose_run_is_a_file_shows_nothing_of_it() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let suite = folder.path().join("suite");
    let other = folder.path().join("other");
    store(&other);
    let secret = folder.path().join("shadow");
    fs::write(&secret, SECRET).expect("the folder is ours");
    let output = run(&[
        "report",
        plain(&other),
        plain(&other),
        "--out",
        plain(&suite),
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let path = suite.join("results.json");
    let record = fs::read_to_string(&path).expect("it was written");
    let record = record.replace("\"../other\"", &format!("\"{}\"", plain(&secret)));
    assert!(record.contains("shadow"), "the test needs such a record");
    fs::write(&path, record).expect("the folder is ours");
    let output = run(&["check", plain(&suite)]);
    let said = all_said(&output);
    assert_eq!(output.status.code(), Some(INVALID), "{said}");
    assert!(!said.contains(SECRET), "{said}");
}
