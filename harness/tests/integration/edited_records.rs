//! A record that was edited, or whose history was: `report` makes no page of it. Method: a violated
//! history is made into a run folder, and one thing after the other is changed in it.

use std::fs;
use std::path::Path;

use crate::support::{run, stderr};
use serde_json::{Value, json};
use tempfile::TempDir;

const INVALID: i32 = 65;

fn plain(path: &Path) -> &str {
    path.to_str().expect("temporary folders have plain names")
}

/// Two owners hold the lock at once; with `honest`, one after the other.
fn history(honest: bool) -> String {
    let first = [(0, "acquire"), (1, "acquire"), (0, "release")];
    let second = [(0, "acquire"), (0, "release"), (1, "acquire")];
    let order = if honest { second } else { first };
    let event = |process: u64, kind: &str, function: &str, time: usize| {
        json!({ "type": kind, "process": process, "f": function, "key": "k", "time": time,
            "value": { "owner": format!("o{process}"), "lease_ms": 10_000 } })
        .to_string()
    };
    let events = order
        .into_iter()
        .enumerate()
        .flat_map(|(n, (process, function))| {
            ["invoke", "ok"].map(|kind| event(process, kind, function, 100_000_000 * n))
        });
    let events: Vec<String> = events.collect();
    events.join("\n") + "\n"
}

fn stored() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("history.jsonl");
    fs::write(&path, history(false)).expect("the folder is ours");
    let output = run(&[
        "report",
        plain(&path),
        "--out",
        plain(folder.path()),
        "--report",
        "md",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let said = stderr(&run(&[
        "report",
        plain(folder.path()),
        "--report",
        "md,html",
    ]));
    assert!(!said.contains("could not be checked"), "{said}");
    folder
}

fn record(folder: &Path) -> Value {
    let text = fs::read_to_string(folder.join("results.json")).expect("it was written");
    serde_json::from_str(&text).expect("it is JSON")
}

fn store(folder: &Path, record: &Value) {
    fs::write(folder.join("results.json"), record.to_string()).expect("the folder is ours");
}

/// Words with which `report` refuses a folder.
fn refusal(folder: &Path) -> String {
    for page in ["report.md", "report.html"] {
        let _ = fs::remove_file(folder.join(page));
    }
    let output = run(&["report", plain(folder), "--report", "md"]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(INVALID), "{said}");
    assert!(
        said.contains("cannot be believed") && said.contains("lockstorm check"),
        "{said}"
    );
    assert!(!folder.join("report.md").exists(), "no page is made of it");
    said
}

/// Every verdict `violated` becomes `valid`, and what follows from it.
fn whitewash(record: &mut Value) {
    let text = record.to_string().replace("\"violated\"", "\"valid\"");
    *record = serde_json::from_str(&text).expect("it is JSON");
}

#[test]
fn verdicts_that_contradict_their_counts_are_refused() {
    let folder = stored();
    let mut edited = record(folder.path());
    whitewash(&mut edited);
    store(folder.path(), &edited);
    let said = refusal(folder.path());
    assert!(
        said.contains("mutual-exclusion is valid with 1 violations"),
        "{said}"
    );
}

#[test]
fn verdicts_that_contradict_the_history_are_refused() {
    let folder = stored();
    let mut edited = record(folder.path());
    whitewash(&mut edited);
    let properties = edited["analysis"]["properties"].as_object_mut();
    for (_, judgement) in properties.expect("an object") {
        judgement["count"] = json!(0);
        judgement["witnesses"] = json!([]);
    }
    for result in edited["expectations"].as_array_mut().expect("a list") {
        result["met"] = json!(result["actual"] == "valid");
    }
    store(folder.path(), &edited);
    let first = refusal(folder.path());
    // What the outcome follows from was changed, so it is next.
    assert!(first.contains("its outcome is"), "{first}");
    edited["outcome"] = json!("unknown");
    if !edited["expectations"].to_string().contains("unknown") {
        edited["outcome"] = json!("as-expected");
    }
    store(folder.path(), &edited);
    let said = refusal(folder.path());
    assert!(
        said.contains("mutual-exclusion is valid, and its history says violated"),
        "{said}"
    );
}

#[test]
fn a_history_that_was_changed_is_refused() {
    let folder = stored();
    fs::write(folder.path().join("history.jsonl"), history(true)).expect("the folder is ours");
    let said = refusal(folder.path());
    assert!(said.contains("is violated, and its history says"), "{said}");
}

#[test]
fn the_expectation_is_compared_with_the_verdict() {
    let folder = stored();
    let good = record(folder.path());
    let mut met = good.clone();
    for result in met["expectations"].as_array_mut().expect("a list") {
        result["met"] = json!(true);
    }
    store(folder.path(), &met);
    assert!(refusal(folder.path()).contains("the expectation is called met"));
    let mut outcome = good.clone();
    outcome["outcome"] = json!("as-expected");
    store(folder.path(), &outcome);
    let said = refusal(folder.path());
    assert!(
        said.contains("its outcome is as-expected, and its expectations make it"),
        "{said}"
    );
    let mut overall = good;
    overall["analysis"]["verdict"] = json!("valid");
    store(folder.path(), &overall);
    assert!(refusal(folder.path()).contains("its verdict is valid, and one of its properties"));
}

#[test]
fn a_verdict_without_a_history_is_told_as_unchecked() {
    let folder = stored();
    fs::remove_file(folder.path().join("history.jsonl")).expect("it is there");
    let output = run(&["report", plain(folder.path()), "--report", "md,html"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let told = "could not be checked against its history";
    assert!(stderr(&output).contains(told), "{}", stderr(&output));
    for page in ["report.html", "report.md"] {
        let text = fs::read_to_string(folder.path().join(page)).expect("it was written");
        assert!(text.contains(told), "{page}");
    }
}
