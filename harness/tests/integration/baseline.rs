//! Changes against an earlier run: by `report --baseline`, on stored runs, without servers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

const STORED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../reports/tests/failover");

fn lockstorm(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lockstorm"))
        .args(args)
        .output()
        .expect("the program can be started")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn text(path: &Path) -> &str {
    path.to_str().expect("temporary folders have plain names")
}

/// A copy of the stored run, whose record is changed by `change`.
fn stored(folder: PathBuf, change: impl Fn(&mut Value)) -> PathBuf {
    fs::create_dir_all(&folder).expect("a folder can be made");
    for name in ["history.jsonl", "scenario.toml", "results.json"] {
        let from = Path::new(STORED).join(name);
        fs::copy(from, folder.join(name)).expect("the fixture is there");
    }
    let path = folder.join("results.json");
    let record = fs::read_to_string(&path).expect("it was copied");
    let mut record: Value = serde_json::from_str(&record).expect("the fixture is JSON");
    change(&mut record);
    fs::write(&path, record.to_string()).expect("it can be written");
    folder
}

/// Nobody found that the lock was lost, and the run could have shown it.
fn without_lost_lock(record: &mut Value) {
    let lost = &mut record["analysis"]["properties"]["lost-lock"];
    lost["verdict"] = "valid".into();
    lost["count"] = 0.into();
    lost["witnesses"] = Value::Array(Vec::new());
}

#[test]
fn a_report_says_what_is_new_and_what_goes_on_and_stores_it() {
    let out = tempfile::tempdir().expect("a temporary folder can be made");
    let now = stored(out.path().join("now"), |_| {});
    let before = stored(out.path().join("before"), without_lost_lock);

    let output = lockstorm(&["report", text(&now), "--baseline", text(&before)]);

    assert!(output.status.success(), "{}", stderr(&output));
    let read = |name: &str| fs::read_to_string(now.join(name)).expect("it was written");
    for name in ["report.html", "report.md"] {
        assert!(read(name).contains("1 new, 1 ongoing"), "{name}");
    }
    let record: Value = serde_json::from_str(&read("results.json")).expect("it is JSON");
    let states: Vec<&str> = record["changed"]["findings"]
        .as_array()
        .expect("it is stored")
        .iter()
        .filter_map(|change| change["state"].as_str())
        .collect();
    assert_eq!(states, ["new", "ongoing"]);
}

#[test]
fn the_results_file_itself_is_a_baseline_too() {
    let out = tempfile::tempdir().expect("a temporary folder can be made");
    let now = stored(out.path().join("now"), |_| {});
    let before = stored(out.path().join("before"), without_lost_lock).join("results.json");
    let args = ["report", text(&now), "--report", "md"];
    let output = lockstorm(&[&args[..], &["--baseline", text(&before)]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let markdown = fs::read_to_string(now.join("report.md")).expect("it was written");
    assert!(markdown.contains("1 new, 1 ongoing"), "{markdown}");
}

#[test]
fn each_run_of_a_suite_says_what_changed_in_its_cell() {
    let out = tempfile::tempdir().expect("a temporary folder can be made");
    let suite = |name: &str, change: fn(&mut Value)| {
        let folder = out.path().join(name);
        let cell = |name: &str, change: &dyn Fn(&mut Value)| {
            let cell = stored(folder.join(name), change);
            let record = fs::read_to_string(cell.join("results.json")).expect("it was written");
            serde_json::from_str::<Value>(&record).expect("it is JSON")
        };
        let one = cell("cells/one", &change);
        let other = cell("cells/other", &|record| {
            change(record);
            record["labels"]["hazard"] = "another".into();
        });
        let run = |folder: &str, record| serde_json::json!({ "folder": folder, "record": record });
        let suite = serde_json::json!({
            "version": 1, "name": "suite", "seed": 1, "started": "2026-01-01T00:00:00Z",
            "duration_s": 1.0, "not_run": [], "rerun": "lockstorm run",
            "runs": [run("cells/one", one), run("cells/other", other)],
        });
        fs::write(folder.join("results.json"), suite.to_string()).expect("it can be written");
        folder
    };
    let now = suite("now", |_| {});
    let before = suite("before", without_lost_lock);

    let args = ["report", text(&now), "--baseline", text(&before)];
    let output = lockstorm(&[&args[..], &["--report", "html"]].concat());

    assert!(output.status.success(), "{}", stderr(&output));
    let whole = fs::read_to_string(now.join("report.html")).expect("it was written");
    assert!(whole.contains("2 new, 2 ongoing"));
    for cell in ["cells/one", "cells/other"] {
        let page = now.join(cell).join("report.html");
        let page = fs::read_to_string(page).expect("it was written");
        assert!(page.contains("1 new, 1 ongoing"), "of this cell alone");
    }
}

#[test]
fn a_comparison_of_runs_that_lie_elsewhere_leaves_them_as_they_are() {
    let out = tempfile::tempdir().expect("a temporary folder can be made");
    let runs = ["one", "two"].map(|name| stored(out.path().join(name), |_| {}));
    let before = stored(out.path().join("before"), without_lost_lock);
    let all = out.path().join("all");
    let args = [
        "report",
        text(&runs[0]),
        text(&runs[1]),
        "--out",
        text(&all),
    ];
    let output = lockstorm(&[&args[..], &["--baseline", text(&before)]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let says = |folder: &Path| {
        let record = fs::read_to_string(folder.join("results.json")).expect("it is there");
        record.contains("\"changed\"")
    };
    assert!(says(&all), "the comparison says what changed");
    assert!(
        !says(&runs[0]) && !says(&runs[1]),
        "a run says it if it is asked itself"
    );
}

#[test]
fn a_wrong_baseline_is_refused_with_its_place_and_the_remedy_before_anything_is_done() {
    let out = tempfile::tempdir().expect("a temporary folder can be made");
    let now = stored(out.path().join("now"), |_| {});
    let torn = stored(out.path().join("torn"), |_| {});
    fs::write(torn.join("results.json"), "{\"version\": 1,\n oops}").expect("it can be written");
    let gone = out.path().join("gone");
    let scenario = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../scenarios/library/examples/control-single.toml"
    );
    let runs = out.path().join("runs");
    let commands = [
        vec!["report", text(&now)],
        vec!["run", scenario, "--out", text(&runs)],
    ];
    for command in commands {
        let missing = lockstorm(&[&command[..], &["--baseline", text(&gone)]].concat());
        let said = stderr(&missing);
        assert_eq!(missing.status.code(), Some(65), "{said}");
        assert!(said.contains("gone/results.json"), "{said}");
        assert!(said.contains("give the folder"), "{said}");

        let malformed = lockstorm(&[&command[..], &["--baseline", text(&torn)]].concat());
        let said = stderr(&malformed);
        assert_eq!(malformed.status.code(), Some(65), "{said}");
        assert!(said.contains("line 2 column"), "{said}");
    }
    assert!(!now.join("report.html").exists() && !runs.exists());
}

#[test]
fn the_exit_code_of_parts_on_one_page_is_that_of_all_where_it_is_asked_for() {
    let out = tempfile::tempdir().expect("a temporary folder can be made");
    let fails = |record: &mut Value| {
        let exclusion = &mut record["expectations"][0];
        exclusion["expected"] = "valid".into();
        exclusion["met"] = false.into();
        record["outcome"] = "unexpected".into();
    };
    let good = stored(out.path().join("good"), |_| {});
    let bad = stored(out.path().join("bad"), fails);
    let before = stored(out.path().join("before"), fails);
    let before_it_was_lost = stored(out.path().join("earlier"), |record| {
        fails(record);
        without_lost_lock(record);
    });
    let all = out.path().join("all");
    let report = |further: &[&str]| {
        let args = ["report", text(&good), text(&bad), "--out", text(&all)];
        lockstorm(&[&args[..], &["--report", "md"], further].concat())
    };
    let new = |baseline: &Path| {
        let output = report(&["--fail-on", "new", "--baseline", text(baseline)]);
        output.status.code()
    };

    assert_eq!(report(&[]).status.code(), Some(0));
    let any = report(&["--fail-on", "unexpected"]);
    assert_eq!(any.status.code(), Some(1), "{}", stderr(&any));
    assert_eq!(new(&before), Some(0));
    assert_eq!(new(&before_it_was_lost), Some(1), "it has a new finding");
    let against_nothing = report(&["--fail-on", "new"]);
    assert_eq!(against_nothing.status.code(), Some(64));
}
