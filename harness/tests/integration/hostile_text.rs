//! Text of strangers reaches a terminal and the log of a CI runner as text: no escape sequence, no
//! character that turns the line around, no line that the runner would obey.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::support::{run, said as all_said, stderr, stdout};
use serde_json::json;

/// Colours, sets the title, and is a command in a line of its own, with and without blanks.
const HOSTILE: &str = "\u{1b}[31mRED\u{1b}]0;title\u{7}\r\n::error::x\n \t::set-output name=a::b\
                       \u{202e}\u{9b}2J ##[error]y ##vso[task]z";

fn temporary() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder can be made")
}

fn plain(path: &Path) -> &str {
    path.to_str().expect("the path is text")
}

/// Asserts that all that was said is harmless, and returns it.
fn harmless(output: &Output) -> String {
    let said = stderr(output) + &stdout(output);
    for line in said.split('\n') {
        assert!(!line.trim_start().starts_with("::"), "{said}");
    }
    let hidden = |c: char| lockstorm_checker::inert::is_hidden(c) && !matches!(c, '\n' | '\t');
    assert!(!said.contains(hidden), "{said:?}");
    assert!(!said.contains("##[") && !said.contains("##vso["), "{said}");
    said
}

#[test]
fn a_hostile_history_is_quoted_and_not_obeyed() {
    let folder = temporary();
    let good = json!({ "type": "invoke", "process": 0, "f": "acquire", "value": {} });
    for (n, field) in ["type", "f", "process", "time", "value", "key"]
        .into_iter()
        .enumerate()
    {
        let mut bad = good.clone();
        bad[field] = json!(HOSTILE);
        let path = folder.path().join(format!("{n}.jsonl"));
        fs::write(&path, format!("{good}\n{bad}\n")).expect("the folder is ours");
        for more in [&["--format", "human"][..], &["--format", "json"]] {
            let mut args = vec!["check", plain(&path)];
            args.extend(more);
            harmless(&run(&args));
        }
        let said = harmless(&run(&["check", plain(&path)]));
        if field == "type" {
            assert!(said.contains("\\u{1b}[31mRED"), "it is shown: {said}");
        }
        let told = all_said(&run(&["check", plain(&path), "--color", "always"]));
        assert!(
            !told.contains("\u{1b}[31mRED"),
            "only our own colours: {told:?}"
        );
    }
}

#[test]
fn a_hostile_record_is_quoted_and_not_obeyed() {
    let folder = temporary();
    for field in ["verdict", "version", "labels", "analysis", "outcome"] {
        let text = json!({ "version": 1, field: HOSTILE }).to_string();
        fs::write(folder.path().join("results.json"), text).expect("the folder is ours");
        let output = run(&["report", plain(folder.path())]);
        assert_eq!(output.status.code(), Some(65));
        harmless(&output);
    }
}

#[test]
fn hostile_names_of_files_and_arguments_are_quoted() {
    let folder = temporary();
    let path = folder.path().join(HOSTILE.replace('/', "-"));
    let missing = run(&["check", plain(&path)]);
    assert_eq!(missing.status.code(), Some(65));
    harmless(&missing);
    harmless(&run(&["validate", plain(&path)]));
    harmless(&run(&["report", plain(&path)]));
    let wrong = run(&[HOSTILE]);
    assert_eq!(wrong.status.code(), Some(64));
    harmless(&wrong);
    harmless(&run(&["check", "--from", HOSTILE, "x"]));
}

#[test]
fn a_hostile_scenario_is_shown_and_not_obeyed() {
    let folder = temporary();
    let path = folder.path().join("hostile.toml");
    let bidi = "\u{202e}\u{2066}";
    // A string of JSON is one of TOML.
    let [hostile, odd] = [json!(HOSTILE), json!(bidi)];
    let text = format!("name = {hostile}\nlock.{odd} = 1 # {bidi}\n[{hostile}]\n");
    fs::write(&path, &text).expect("the folder is ours");
    let output = run(&["validate", plain(&path)]);
    assert_eq!(output.status.code(), Some(65));
    harmless(&output);
    harmless(&run(&[
        "list",
        "scenarios",
        "--scenarios",
        plain(folder.path()),
    ]));
}

/// Two clients that hold the lock at once.
fn held_twice(key: &str, owners: [&str; 2]) -> String {
    let mut lines = String::new();
    for time in 0..8 {
        let (client, call) = (time / 2 % 2, time / 4);
        let kind = ["invoke", "ok"][time % 2];
        let function = ["acquire", "release"][call];
        let mut value = json!({ "owner": owners[client] });
        if call == 0 {
            value["lease_ms"] = json!(2000);
        }
        let line = json!({
            "time": time * 20_000_000, "process": client, "type": kind,
            "f": function, "key": key, "value": value,
        });
        lines.push_str(&line.to_string());
        lines.push('\n');
    }
    lines
}

#[test]
fn a_key_or_an_owner_of_two_megabytes_makes_no_output_long() {
    const NAME: usize = 2_000_000;
    const SHORT: usize = 100_000;
    let huge = "k".repeat(NAME);
    let [one, other] = [format!("{huge}1"), format!("{huge}2")];
    let histories = [
        ("key", held_twice(&huge, ["a", "b"])),
        ("owners", held_twice("orders", [&one, &other])),
    ];
    for (name, history) in histories {
        let folder = temporary();
        let path = folder.path().join(format!("{name}.jsonl"));
        fs::write(&path, history).expect("the folder is ours");
        let to = folder.path().join("report");
        let checked = run(&["check", plain(&path)]);
        assert_eq!(checked.status.code(), Some(1), "{name}");
        let args = [
            "report",
            plain(&path),
            "--out",
            plain(&to),
            "--report",
            "html,md",
        ];
        let mut outputs = vec![checked, run(&args)];
        for format in ["github", "junit", "json"] {
            let args = ["report", plain(&to), "--report", "none", "--format", format];
            outputs.push(run(&args));
        }
        for output in &outputs {
            let said = stderr(output) + &stdout(output);
            assert!(said.len() < SHORT, "{name}: {} bytes", said.len());
        }
        for output in &outputs[1..] {
            assert_eq!(output.status.code(), Some(0), "{name}: {}", stderr(output));
        }
        let said = stdout(&outputs[0]);
        assert!(said.contains("kkk…kkk") && said.contains("bytes"), "{said}");
        for (file, most) in [("report.html", 1_000_000), ("report.md", SHORT)] {
            let length = fs::metadata(to.join(file)).expect("it was written").len();
            assert!(length < most as u64, "{name}: {file} has {length} bytes");
        }
        let kept = fs::read_to_string(to.join("history.jsonl")).expect("it was copied");
        assert!(kept.contains(&huge), "the data have the whole name");
    }
}

#[test]
fn an_error_that_quotes_a_huge_name_is_short() {
    let folder = temporary();
    let path = folder.path().join("other.jsonl");
    let line = |kind: &str, key: &str| {
        let mut line = json!({ "time": 1, "process": 1, "f": "acquire", "value": {} });
        line["type"] = json!(kind);
        line["key"] = json!(key);
        line
    };
    let (sent, answered) = (line("invoke", &"k".repeat(2_000_000)), line("ok", "other"));
    fs::write(&path, format!("{sent}\n{answered}\n")).expect("the folder is ours");
    let output = run(&["check", plain(&path)]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(65), "{said:.2000}");
    assert!(said.contains("but has invoked acquire") && said.len() < 10_000);
}
