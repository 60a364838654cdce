//! `lockstorm check`: the flags that say what a history is judged by.
//!
//! Method: small histories as files, the exit code, and the words that go to the reader.

use std::fs;
use std::io::Write as _;
use std::process::Output;

use crate::support::{lockstorm, run, said, stdout};
use flate2::Compression;
use flate2::write::GzEncoder;

/// `a` gives the lock back before `b` asks for it.
const GOOD: &str = r#"
{"time":1000000,"type":"invoke","process":0,"f":"acquire","value":{"owner":"a"}}
{"time":2000000,"type":"ok","process":0,"f":"acquire"}
{"time":3000000,"type":"invoke","process":0,"f":"release","value":{"owner":"a"}}
{"time":4000000,"type":"ok","process":0,"f":"release"}
{"time":5000000,"type":"invoke","process":1,"f":"acquire","value":{"owner":"b"}}
{"time":6000000,"type":"ok","process":1,"f":"acquire"}
"#;

/// The exit code for [`GOOD`] as a whole: nobody tries the lock while another holds it.
const READ: Option<i32> = Some(2);

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
        assert_eq!(output.status.code(), Some(0), "{model}: {}", said(&output));
        assert!(said(&output).contains("no violation"), "{}", said(&output));
    }
}

#[test]
fn a_history_that_the_model_forbids_fails_with_the_reason_in_words() {
    let kept = GOOD.lines().filter(|line| !line.contains("release"));
    let bad = kept.collect::<Vec<_>>().join("\n");
    let output = check(&bad, &["--only", "model", "--model", "owner-aware"]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let told = said(&output);
    assert!(told.contains("b was granted"), "{told}");
    assert!(told.contains("it is already held by a"), "{told}");
    let two = check(&bad, &["--only", "model", "--model", "semaphore:2"]);
    assert_eq!(two.status.code(), Some(0), "{}", said(&two));
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
        assert_eq!(output.status.code(), Some(64), "{model}: {}", said(&output));
        let told = said(&output);
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
            said(&output)
        );
    }
    let unbounded = check(OUTAGE, &["--only", "availability"]);
    assert_eq!(unbounded.status.code(), Some(2), "{}", said(&unbounded));
}

/// Users who meant another format must be able to see it.
#[test]
fn what_a_file_was_read_as_is_said_to_people_and_to_machines() {
    let array = format!("[{}]", GOOD.trim().replace('\n', ","));
    for (history, format) in [(GOOD, "jsonl"), (&array, "json")] {
        let told = said(&check(history, &[]));
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

#[test]
fn a_word_that_is_nearly_ours_is_an_error_and_other_fields_are_one_warning() {
    let misnamed = check(&GOOD.replace("\"owner\"", "\"client\""), &[]);
    assert_eq!(misnamed.status.code(), Some(65), "{}", said(&misnamed));
    let told = said(&misnamed);
    assert!(told.contains("history.jsonl:1:68: "), "{told}");
    assert!(told.contains("did you mean \"owner\"?"), "{told}");

    let foreign = GOOD.replace("\"owner\"", "\"pid\":7,\"host\":\"n1\",\"owner\"");
    let output = check(&foreign, &["--format", "json-lines"]);
    assert_eq!(output.status.code(), READ, "{}", said(&output));
    let warning = "3 events carry fields that are not read: \"host\", \"pid\"";
    assert_eq!(said(&output).matches(warning).count(), 1);
    let json: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("it is JSON");
    assert_eq!(json["unread"]["events"], 3);
    assert_eq!(json["unread"]["fields"][0], "host");
    assert!(!said(&check(GOOD, &[])).contains("warning"), "all is read");
}

/// The lock of others, in milliseconds: its lease is over when the next is granted it.
const MILLIS: &str = r#"
{"time":0,"type":"invoke","process":"w1","f":"acquire","key":"k","value":{"lease_ms":2000}}
{"time":2,"type":"ok","process":"w1","f":"acquire"}
{"time":2200,"type":"invoke","process":"w2","f":"acquire","key":"k","value":{"lease_ms":2000}}
{"time":2203,"type":"ok","process":"w2","f":"acquire"}
"#;

#[test]
fn times_in_another_unit_are_an_error_that_names_the_flag_and_with_it_are_read() {
    let doubted = check(MILLIS, &[]);
    assert_eq!(doubted.status.code(), Some(65), "{}", said(&doubted));
    let told = said(&doubted);
    assert!(told.contains("--time-unit ms (which fits)"), "{told}");
    let flags = ["--time-unit", "ms", "--only", "mutual-exclusion,lost-lock"];
    let read = check(MILLIS, &flags);
    assert_ne!(read.status.code(), Some(1), "{}", said(&read));
    assert!(said(&read).contains("times in ms"), "{}", said(&read));
    let wrong = check(MILLIS, &["--time-unit", "hours"]);
    assert_eq!(wrong.status.code(), Some(64), "{}", said(&wrong));
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let (file, out) = (folder.path().join("h"), folder.path().join("out"));
    fs::write(&file, MILLIS.trim_start()).expect("it can be written");
    let (file, out) = (file.display().to_string(), out.display().to_string());
    let report = ["report", &file, "--out", &out, "--report", "md"];
    assert_eq!(run(&report).status.code(), Some(65));
    let output = run(&[&report[..], &["--time-unit", "ms"]].concat());
    assert!(output.status.success(), "{}", said(&output));
}

#[test]
fn dates_say_when_a_history_began() {
    let second = |at: u64| format!("\"2026-03-01T12:00:{:02}+01:00\"", at / 1_000_000);
    let dated: String = (1..=6).fold(GOOD.to_owned(), |text, at| {
        let time = at * 1_000_000;
        text.replace(
            &format!("\"time\":{time},"),
            &format!("\"time\":{},", second(time)),
        )
    });
    let output = check(&dated, &[]);
    assert_eq!(output.status.code(), READ, "{}", said(&output));
    let told = said(&output);
    assert!(
        told.contains("6 events, from 2026-03-01T11:00:01Z"),
        "{told}"
    );
}

#[test]
fn the_standard_input_and_packed_files_are_read_like_files() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("history.jsonl.gz");
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed
        .write_all(GOOD.trim_start().as_bytes())
        .expect("memory can be written");
    let packed = packed.finish().expect("memory can be written");
    fs::write(&path, &packed).expect("it can be written");
    let file = run(&["check", &path.display().to_string()]);
    assert_eq!(file.status.code(), READ, "{}", said(&file));
    for bytes in [packed, GOOD.trim_start().into()] {
        let piped = lockstorm_with_input(&["check", "-"], bytes);
        assert_eq!(piped.status.code(), READ, "{}", said(&piped));
        let told = said(&piped);
        assert!(
            told.contains("standard input: read as jsonl, 6 events"),
            "{told}"
        );
    }
}

fn lockstorm_with_input(args: &[&str], bytes: Vec<u8>) -> Output {
    let mut command = assert_cmd::Command::from_std(lockstorm());
    command.args(args).write_stdin(bytes);
    command.output().expect("the program can be started")
}

/// A healthy lock: the clock of `b` is 20 ms behind, so that it seems to be granted the lock before
/// `a` has given it back.
const SKEWED: &str = r#"
{"time":100000000,"type":"invoke","process":0,"f":"acquire","value":{"owner":"a","lease_ms":2000}}
{"time":101000000,"type":"ok","process":0,"f":"acquire"}
{"time":130000000,"type":"invoke","process":1,"f":"acquire","value":{"owner":"b","lease_ms":2000}}
{"time":131000000,"type":"fail","process":1,"f":"acquire","error":"refused"}
{"time":485000000,"type":"invoke","process":1,"f":"acquire","value":{"owner":"b","lease_ms":2000}}
{"time":486000000,"type":"ok","process":1,"f":"acquire"}
{"time":500000000,"type":"invoke","process":0,"f":"release","value":{"owner":"a"}}
{"time":501000000,"type":"ok","process":0,"f":"release"}
{"time":680000000,"type":"invoke","process":1,"f":"release","value":{"owner":"b"}}
{"time":681000000,"type":"ok","process":1,"f":"release"}
"#;

#[test]
fn only_what_the_error_of_the_clocks_cannot_explain_is_a_violation() {
    let only = ["--only", "mutual-exclusion"];
    let one_clock = check(SKEWED, &only);
    assert_eq!(one_clock.status.code(), Some(1), "{}", said(&one_clock));
    let told = said(&one_clock);
    assert!(
        told.contains("assumed: all times are read from one clock"),
        "{told}"
    );
    let error = |time| [&only[..], &["--clock-error", time]].concat();
    let off = check(SKEWED, &error("50ms"));
    assert_eq!(off.status.code(), Some(2), "{}", said(&off));
    let told = said(&off);
    assert!(
        told.contains("assumed: no clock is off by more than 50ms"),
        "{told}"
    );
    assert!(
        told.contains("clocks that are off by up to 0.050 s explain"),
        "{told}"
    );
    let hardly = check(SKEWED, &error("1ms"));
    assert_eq!(hardly.status.code(), Some(1), "{}", said(&hardly));
    for (field, code) in [
        (r#""clock_error_ms":50"#, 2),
        (r#""clock_error_ms_of":{"b":50}"#, 2),
        (r#""clock_error_ms_of":{"1":50}"#, 2),
        (r#""clock_error_ms_of":{"c":50}"#, 1),
    ] {
        let header = format!(r#"{{"format":"lockstorm-history","version":1,{field}}}"#);
        let output = check(&(header + SKEWED), &only);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{field}: {}",
            said(&output)
        );
    }
}

#[test]
fn of_one_process_nothing_is_assumed() {
    let alone: String = SKEWED
        .lines()
        .filter(|line| line.contains(":0,\"f\""))
        .collect::<Vec<_>>()
        .join("\n");
    assert!(!said(&check(&alone, &[])).contains("assumed"));
}

/// A healthy lock that is never released: each lease runs out before the next grant.
fn lapsing(unit: u64) -> String {
    let time = |ms: u64| ms * 1_000_000 / unit;
    let turn = |turn: u64| {
        let (process, owner) = (turn % 2, ["a", "b"][(turn % 2) as usize]);
        [("invoke", 0), ("ok", 2)].map(|(kind, later)| {
            let time = time(2200 * turn + later);
            let event = format!(r#""time":{time},"type":"{kind}","process":{process}"#);
            let value = format!(r#"{{"owner":"{owner}","lease_ms":2000}}"#);
            format!(r#"{{{event},"f":"acquire","value":{value}}}"#)
        })
    };
    (0..5).flat_map(turn).collect::<Vec<_>>().join("\n")
}

#[test]
fn leases_that_run_out_unreleased_accuse_nobody() {
    for (name, unit) in [("ns", 1), ("us", 1000), ("ms", 1_000_000)] {
        let output = check(&lapsing(unit), &["--time-unit", name]);
        let told = said(&output);
        assert_eq!(output.status.code(), Some(2), "{name}: {told}");
        assert!(
            told.contains("how long it went on after its lease is not recorded")
                || told.contains("no acquire was tried while another owner held the lock"),
            "{name}: {told}"
        );
        assert!(!told.contains("violated"), "{name}: {told}");
    }
}
