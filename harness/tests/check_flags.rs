//! `lockstorm check`: the flags that say what a history is judged by.
//!
//! Method: small histories as files, the exit code, and the words that go to the reader.

mod support;

use std::fs;
use std::process::Output;

use support::{run, stderr, stdout};

/// `a` gives the lock back before `b` asks for it.
const GOOD: &str = r#"
{"time":1000000,"type":"invoke","process":0,"f":"acquire","value":{"owner":"a"}}
{"time":2000000,"type":"ok","process":0,"f":"acquire"}
{"time":3000000,"type":"invoke","process":0,"f":"release","value":{"owner":"a"}}
{"time":4000000,"type":"ok","process":0,"f":"release"}
{"time":5000000,"type":"invoke","process":1,"f":"acquire","value":{"owner":"b"}}
{"time":6000000,"type":"ok","process":1,"f":"acquire"}
"#;

/// Nobody is granted a free lock for ten seconds, in a fault.
const OUTAGE: &str = r#"
{"time":0,"type":"invoke","process":0,"f":"acquire","value":{"owner":"a"}}
{"time":1000000,"type":"ok","process":0,"f":"acquire"}
{"time":2000000,"type":"invoke","process":1,"f":"acquire","value":{"owner":"b"}}
{"time":3000000,"type":"fail","process":1,"f":"acquire","error":"refused"}
{"time":4000000,"type":"invoke","process":0,"f":"release","value":{"owner":"a"}}
{"time":5000000,"type":"ok","process":0,"f":"release"}
{"time":6000000,"type":"note","process":"nemesis","f":"fault","value":{"fault":FAULT"injected"}}}
{"time":7000000,"type":"note","process":"nemesis","f":"fault","value":{"fault":FAULT"observed"}}}
{"time":8000000,"type":"invoke","process":1,"f":"acquire","value":{"owner":"b"}}
{"time":10008000000,"type":"ok","process":1,"f":"acquire"}
"#;

/// The beginning of a note on the fault, up to its phase.
const FAULT: &str = r#"{"id":"F1","kind":"kill","target":"n1","phase":"#;

fn check(history: &str, flags: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let file = folder.path().join("history.jsonl");
    let history = history.trim_start().replace("FAULT", FAULT);
    fs::write(&file, history).expect("it can be written");
    let file = file.display().to_string();
    run(&[&["check", &*file], flags].concat())
}

#[test]
fn a_history_that_the_model_allows_passes() {
    for model in [
        "mutex",
        "owner-aware",
        "reentrant:3",
        "fenced",
        "semaphore:1",
    ] {
        let output = check(GOOD, &["--only", "model", "--model", model]);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{model}: {}",
            stderr(&output)
        );
        assert!(
            stderr(&output).contains("no violation"),
            "{}",
            stderr(&output)
        );
    }
}

#[test]
fn a_history_that_the_model_forbids_fails_with_the_reason_in_words() {
    let kept = GOOD.lines().filter(|line| !line.contains("release"));
    let bad = kept.collect::<Vec<_>>().join("\n");
    let output = check(&bad, &["--only", "model", "--model", "owner-aware"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let told = stderr(&output);
    assert!(told.contains("b was granted"), "{told}");
    assert!(told.contains("it is already held by a"), "{told}");
    let two = check(&bad, &["--only", "model", "--model", "semaphore:2"]);
    assert_eq!(two.status.code(), Some(0), "{}", stderr(&two));
}

#[test]
fn a_model_that_does_not_exist_or_has_a_bad_parameter_is_refused() {
    for (model, named) in [
        ("semaphore:0", "semaphore"),
        ("semaphore:many", "semaphore"),
        ("owner-aware:2", "owner-aware"),
        ("lock", "list models"),
    ] {
        let output = check(GOOD, &["--model", model]);
        assert_eq!(
            output.status.code(),
            Some(64),
            "{model}: {}",
            stderr(&output)
        );
        let told = stderr(&output);
        assert!(told.contains("--model") && told.contains(named), "{told}");
    }
}

#[test]
fn a_stretch_without_a_grant_is_a_violation_only_beyond_the_bound() {
    for (bound, code) in [("5s", 3), ("20s", 0)] {
        let flags = ["--only", "availability", "--availability-gap", bound];
        let output = check(OUTAGE, &flags);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{bound}: {}",
            stderr(&output)
        );
    }
    let unbounded = check(OUTAGE, &["--only", "availability"]);
    assert_eq!(unbounded.status.code(), Some(0), "{}", stderr(&unbounded));
}

/// Whoever meant another format must be able to see it.
#[test]
fn what_a_file_was_read_as_is_said_to_people_and_to_machines() {
    let array = format!("[{}]", GOOD.trim().replace('\n', ","));
    for (history, format) in [(GOOD, "jsonl"), (&array, "json")] {
        let told = stderr(&check(history, &[]));
        let words = format!("read as {format}, 6 events");
        assert!(told.contains(&words), "{told}");
        for flag in ["json", "json-lines"] {
            let output = stdout(&check(history, &["--format", flag]));
            let json: serde_json::Value = serde_json::from_str(&output).expect("it is JSON");
            let of_file = if flag == "json" { &json[0] } else { &json };
            assert_eq!(of_file["format"], format, "{output}");
        }
    }
}
