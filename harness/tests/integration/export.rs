//! `lockstorm export`, and `check` of what others wrote.
//!
//! Method: a history goes out and comes back in, and must be judged as before.

use std::fs;

use crate::support::{run, stderr, stdout};

/// Two locks: `a` is granted to two clients at once, `b/1` to one. A note concerns both.
const HISTORY: &str = r#"{"format":"lockstorm-history","version":1,"seed":3}
{"time":1,"type":"note","process":"nemesis","f":"phase","value":{"phase":{"name":"main"}}}
{"time":10,"type":"invoke","process":0,"f":"acquire","key":"a"}
{"time":20,"type":"ok","process":0,"f":"acquire"}
{"time":30,"type":"invoke","process":1,"f":"acquire","key":"a"}
{"time":40,"type":"ok","process":1,"f":"acquire"}
{"time":50,"type":"invoke","process":2,"f":"acquire","key":"b/1"}
{"time":60,"type":"ok","process":2,"f":"acquire"}
{"time":70,"type":"invoke","process":0,"f":"release","key":"a"}
{"time":80,"type":"fail","process":0,"f":"release","error":"not-owner"}
"#;

struct Folder(tempfile::TempDir);

impl Folder {
    /// A folder that holds the history above.
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        fs::write(folder.path().join("history.jsonl"), HISTORY).expect("it can be written");
        Self(folder)
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.path().join(name)).expect("the file was written")
    }
}

fn verdicts(file: &str, more: &[&str]) -> serde_json::Value {
    let args = [&["check", file, "--format", "json-lines"], more].concat();
    let line = stdout(&run(&args));
    let mut line: serde_json::Value = serde_json::from_str(&line).expect("one object");
    line["properties"].take()
}

#[test]
fn each_lock_gets_a_history_of_its_own_which_is_judged_as_before() {
    let folder = Folder::new();
    let (from, out) = (folder.path("history.jsonl"), folder.path("h.edn"));
    let output = run(&["export", &from, "--to", "edn", "--out", &out]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let (a, b) = (folder.read("h.a.edn"), folder.read("h.b_1.edn"));
    assert_eq!(
        (a.lines().count(), b.lines().count()),
        (7, 3),
        "the note stands in both"
    );
    assert!(
        a.contains(":f :release, :key \"a\", :value nil, :error :not-owner"),
        "{a}"
    );
    assert_eq!(verdicts(&folder.path("h.a.edn"), &[]), verdicts(&from, &[]));
    let b = verdicts(&folder.path("h.b_1.edn"), &[]);
    assert_ne!(b["mutual-exclusion"]["verdict"], "violated");
}

#[test]
fn without_a_file_there_must_be_one_lock_and_the_message_names_those_that_there_are() {
    let folder = Folder::new();
    let from = folder.path("history.jsonl");
    let several = run(&["export", &from, "--to", "edn"]);
    assert_eq!(several.status.code(), Some(64));
    for word in ["\"a\", \"b/1\"", "--key", "--out"] {
        assert!(stderr(&several).contains(word), "{}", stderr(&several));
    }
    let one = run(&["export", &from, "--to", "edn", "--key", "b/1"]);
    assert_eq!(stdout(&one).lines().count(), 3, "{}", stdout(&one));
    let none = run(&["export", &from, "--to", "edn", "--key", "c"]);
    assert_eq!(none.status.code(), Some(64));
    assert!(
        stderr(&none).contains("no lock \"c\"; it has \"a\", \"b/1\""),
        "{}",
        stderr(&none)
    );
}

#[test]
fn a_bare_history_is_what_the_mutex_model_takes() {
    let folder = Folder::new();
    let from = folder.path("history.jsonl");
    let more = [
        "--to",
        "edn",
        "--key",
        "a",
        "--bare",
        "--refused-release",
        "ok",
    ];
    let output = run(&[&["export", &from], &more[..]].concat());
    let text = stdout(&output);
    assert_eq!(text.lines().count(), 6, "no note: {text}");
    assert!(
        text.lines().all(|line| line.contains(":value nil")),
        "{text}"
    );
    assert!(
        text.contains(":type :ok, :process 0, :f :release"),
        "{text}"
    );
}

#[test]
fn all_locks_come_back_into_one_history_of_our_own_lines() {
    let folder = Folder::new();
    let (from, out) = (folder.path("history.jsonl"), folder.path("again.jsonl"));
    let output = run(&["export", &from, "--to", "jsonl", "--out", &out]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(
        folder.read("again.jsonl").contains("\"seed\":3"),
        "the header is kept"
    );
    assert_eq!(verdicts(&out, &[]), verdicts(&from, &[]));
}

#[test]
fn a_format_may_be_named_and_all_are_listed() {
    let folder = Folder::new();
    let path = folder.path("history.txt");
    let line = "jepsen.util 0 :invoke :acquire nil\njepsen.util 0 :ok :acquire nil\n";
    fs::write(&path, line).expect("it can be written");
    let told = verdicts(&path, &[]);
    assert_eq!(told, verdicts(&path, &["--from", "jepsen-log"]), "{told}");
    let wrong = run(&["check", &path, "--from", "edn"]);
    assert_eq!(wrong.status.code(), Some(65));
    assert!(
        stderr(&wrong).contains("history.txt:1:1: this is no event"),
        "{}",
        stderr(&wrong)
    );
    let unknown = run(&["check", &path, "--from", "xml"]);
    assert_eq!(unknown.status.code(), Some(64));
    assert!(
        stderr(&unknown).contains("jsonl, json, edn, jepsen-log"),
        "{}",
        stderr(&unknown)
    );
    let list = stdout(&run(&["list", "formats"]));
    assert_eq!(list.lines().count(), 6, "{list}");
}
