//! Runs and suites that were killed: what is there is judged, and that it is not all is said.
//!
//! Method: the histories that such runs leave, as files, and the words and the exit code.

use std::fs;
use std::path::Path;

use crate::support::{have_server, run, run_scenario, said, stderr, stdout};

/// First line of a history.
const HEADER: &str = concat!(
    r#"{"format":"lockstorm-history","version":2,"scenario":"s","seed":1,"#,
    r#""started":"2026-01-01T00:00:00Z"}"#
);

/// `b` is refused the lock that `a` holds, and gets it afterwards.
const CALLS: &str = r#"
{"time":1000000,"type":"invoke","process":0,"f":"acquire","value":{"owner":"a","lease_ms":2000}}
{"time":2000000,"type":"ok","process":0,"f":"acquire"}
{"time":3000000,"type":"invoke","process":1,"f":"acquire","value":{"owner":"b","lease_ms":2000}}
{"time":4000000,"type":"fail","process":1,"f":"acquire","error":"refused"}
{"time":5000000,"type":"invoke","process":0,"f":"release","value":{"owner":"a"}}
{"time":6000000,"type":"ok","process":0,"f":"release"}
{"time":7000000,"type":"invoke","process":1,"f":"acquire","value":{"owner":"b","lease_ms":2000}}
{"time":8000000,"type":"ok","process":1,"f":"acquire"}
"#;

fn phase(time: u64, name: &str) -> String {
    format!(
        "{{\"time\":{time},\"type\":\"note\",\"process\":\"nemesis\",\"f\":\"phase\",\
         \"value\":{{\"phase\":{{\"name\":\"{name}\"}}}}}}\n"
    )
}

/// A recorded history that reaches these phases after its calls.
fn history(phases: &[&str]) -> String {
    let main = phase(0, "main");
    let later: String = phases.iter().map(|name| phase(9_000_000, name)).collect();
    format!("{HEADER}\n{main}{}{later}", CALLS.trim_start())
}

fn json(path: &Path) -> serde_json::Value {
    let text = fs::read_to_string(path).expect("it is there");
    serde_json::from_str(&text).expect("it is JSON")
}

fn write(path: &Path, text: &str) -> String {
    fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("it can be made");
    fs::write(path, text).expect("it can be written");
    path.display().to_string()
}

#[test]
fn a_recorded_history_without_its_end_is_at_best_unknown_and_says_where_it_breaks_off() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("history.jsonl");
    let only = ["--only", "mutual-exclusion", "--format", "json-lines"];
    let old = history(&["final"]).replacen("\"version\":2", "\"version\":1", 1);
    let foreign = history(&[]).replacen(",\"seed\":1", "", 1);
    for (text, code, told) in [
        (history(&["final", "end"]), 0, None),
        (old, 0, None),
        (foreign, 0, None),
        (history(&[]), 2, Some("cut short in the phase \"main\"")),
        (history(&["final"]), 2, Some("cut short in the final phase")),
        (history(&["end"]), 2, Some("the run was stopped early")),
    ] {
        let file = write(&path, &text);
        let output = run(&[&["check", &*file][..], &only].concat());
        assert_eq!(
            output.status.code(),
            Some(code),
            "{text}{}",
            stderr(&output)
        );
        let line: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("it is JSON");
        let reason = line["cut_short"].as_str();
        assert_eq!(reason.is_some(), told.is_some(), "{line}");
        assert!(
            reason
                .unwrap_or_default()
                .contains(told.unwrap_or_default()),
            "{line}"
        );
        let told = said(&run(&["check", &file]));
        assert_eq!(told.contains("cut short: "), reason.is_some(), "{told}");
    }
    let double = history(&[]).replace("release", "renew");
    let file = write(&path, &double);
    let output = run(&[&["check", &*file][..], &only].concat());
    assert_eq!(output.status.code(), Some(1), "what is violated stays so");
}

#[test]
fn the_folder_of_a_killed_suite_is_judged_cell_by_cell() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let cell = |name: &str| folder.path().join("cells").join(name).join("history.jsonl");
    write(&cell("001-a"), &history(&["final", "end"]));
    write(&cell("002-b"), &history(&[]));
    let suite = folder.path().display().to_string();
    let check = [
        "check",
        &suite,
        "--only",
        "mutual-exclusion",
        "--format",
        "json-lines",
    ];
    let output = run(&check);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(
        said(&output).contains("the suite was cut short"),
        "{}",
        stderr(&output)
    );
    let lines = stdout(&output);
    let verdicts: Vec<_> = lines
        .lines()
        .map(|line| line.contains("cut_short"))
        .collect();
    assert_eq!(verdicts, [false, true], "{lines}");
    for round in ["made", "stored"] {
        let output = run(&["report", &suite, "--report", "md"]);
        assert!(output.status.success(), "{round}: {}", stderr(&output));
    }
    let stored = json(&folder.path().join("results.json"));
    let told = stored["description"].as_str().expect("it has one");
    assert!(
        told.contains("cut short") && told.contains("2 runs"),
        "{told}"
    );
    assert_eq!(stored["runs"][1]["record"]["outcome"], "unknown");
    assert_eq!(
        stored["runs"][1]["record"]["analysis"]["verdict"],
        "unknown"
    );
}

#[test]
fn the_folder_of_a_killed_run_is_judged_as_what_it_is() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    write(&folder.path().join("history.jsonl"), &history(&[]));
    let name = folder.path().display().to_string();
    let output = run(&["report", &name, "--report", "md"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("the run was killed"),
        "{}",
        stderr(&output)
    );
    let stored = json(&folder.path().join("results.json"));
    let stopped = stored["stopped"].as_str().expect("it says why");
    assert!(stopped.contains("cut short in the phase"), "{stopped}");
    assert_eq!(stored["outcome"], "unknown");
}

#[test]
fn a_whole_run_is_not_taken_for_a_part_and_is_read_without_a_warning() {
    if !have_server() {
        return;
    }
    let out = tempfile::tempdir().expect("a temporary folder can be made");
    let scenario = "scenarios/library/examples/control-single.toml";
    let ran = run_scenario(scenario, out.path(), &["--report", "none"]);
    assert!(ran.status.success(), "{}", stderr(&ran));
    let latest = out.path().join("latest").display().to_string();
    let output = run(&["check", &latest]);
    let told = said(&output);
    assert!(
        !told.contains("cut short") && !told.contains("warning"),
        "{told}"
    );
    assert!(!told.contains("assumed"), "{told}");
}
