//! Mistakes of a user: each gets a message that names the place and the remedy, the right exit
//! code, and never a panic.

use std::fs;
use std::net::TcpListener;

use crate::support::{have_server, lockstorm, root, run, run_scenario, stderr, stdout};

/// A key that would run a script, were it ever taken for markup.
const HOSTILE: &str = "</script><img src=x onerror=alert(1)>";

fn temporary() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder can be made")
}

#[test]
fn a_missing_server_is_named_with_the_command_that_installs_one() {
    let out = temporary();
    let output = lockstorm()
        .args([
            "run",
            "scenarios/library/examples/control-single.toml",
            "--out",
        ])
        .arg(out.path())
        .env("PATH", "/nowhere")
        .env_remove("LOCKSTORM_REDIS_SERVER")
        .current_dir(root())
        .output()
        .expect("the program can be started");
    // The set-up script may have fetched one into the checkout, which is found all the same.
    if root().join(".tools/bin/valkey-server").exists() {
        assert_eq!(output.status.code(), Some(0));
        return;
    }
    assert_eq!(output.status.code(), Some(69), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("make setup"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_program_that_is_no_server_is_refused_before_anything_runs() {
    let out = temporary();
    let more = ["--redis-server", "/bin/true"];
    let output = run_scenario(
        "scenarios/library/examples/control-single.toml",
        out.path(),
        &more,
    );
    assert_eq!(output.status.code(), Some(69));
    assert!(
        stderr(&output).contains("no usable redis-server"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_port_that_is_taken_everywhere_is_named_with_the_flag_that_chooses_another() {
    if !have_server() {
        return;
    }
    let taken = TcpListener::bind("0.0.0.0:0").expect("some port is free");
    let port = taken.local_addr().expect("it is bound").port().to_string();
    let out = temporary();
    let output = run_scenario(
        "scenarios/library/examples/control-single.toml",
        out.path(),
        &["--port", &port],
    );
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(69), "{text}");
    assert!(text.contains(&port) && text.contains("--port"), "{text}");
}

#[test]
fn five_mistakes_in_a_scenario_are_shown_all_at_once_each_at_its_place() {
    let folder = temporary();
    let path = folder.path().join("five.toml");
    let text = r#"name = "five mistakes"
topology.single = {}
lock.tokn = { lease = "2s" }
expect = { mutual-exclusion = "broken" }
[clients]
cuont = 3
[[step]]
acquire = { client = "a", wait = "2 parsecs" }
[[step]]
kill = { node = "n7" }
"#;
    fs::write(&path, text).expect("the file can be written");
    let output = run(&["validate", path.to_str().expect("a plain name")]);
    let shown = stderr(&output);
    assert_eq!(output.status.code(), Some(65), "{shown}");
    for place in [":3:", ":4:", ":6:", ":8:"] {
        assert!(
            shown.contains(&format!("five.toml{place}")),
            "{place} is missing in\n{shown}"
        );
    }
    assert!(
        shown.contains("token") && shown.contains("count"),
        "suggestions:\n{shown}"
    );
    assert!(!shown.contains("panicked"), "{shown}");
}

#[test]
fn a_torn_last_line_is_reported_and_the_rest_is_checked() {
    let folder = temporary();
    let path = folder.path().join("torn.jsonl");
    let whole = r#"{"index":0,"time":1,"type":"invoke","process":0,"f":"acquire"}
{"index":1,"time":2,"type":"ok","process":0,"f":"acquire"}
{"index":2,"time":3,"type":"inv"#;
    fs::write(&path, whole).expect("the file can be written");
    let name = path.to_str().expect("a plain name");
    let output = run(&["check", name, "--format", "json-lines"]);
    assert!(stderr(&output).contains("line 3"), "{}", stderr(&output));
    let line: serde_json::Value =
        serde_json::from_str(&stdout(&output)).expect("one object for the file");
    assert_eq!(line["file"], name);
    // One client alone: nothing could have been violated.
    assert_eq!(line["verdict"], "unknown");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn room_that_a_killed_run_left_unused_is_told_as_what_it_is() {
    let folder = temporary();
    let path = folder.path().join("killed.jsonl");
    let mut whole = br#"{"index":0,"time":1,"type":"invoke","process":0,"f":"acquire"}
{"index":1,"time":2,"type":"ok","process":0,"f":"acquire"}
"#
    .to_vec();
    whole.resize(whole.len() + 5000, 0);
    fs::write(&path, whole).expect("the file can be written");
    let output = run(&["check", path.to_str().expect("a plain name")]);
    let told = stderr(&output);
    let said = "ends with 5000 NUL bytes: the program that wrote it was killed";
    assert!(told.contains(said), "{told}");
    assert!(!told.contains("torn"), "no line of it is damaged: {told}");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_malformed_line_is_an_error_with_its_line_and_the_other_files_are_checked_all_the_same() {
    let folder = temporary();
    let bad = folder.path().join("bad.jsonl");
    let good = folder.path().join("good.jsonl");
    fs::write(
        &bad,
        "{\"type\":\"invoke\",\"process\":0,\"f\":\"acquire\"}\nnonsense\n{}\n",
    )
    .expect("the file can be written");
    fs::write(&good, two_holders("lock")).expect("the file can be written");
    let (bad, good) = (bad.to_str().expect("plain"), good.to_str().expect("plain"));
    let output = run(&["check", bad, good, "--format", "json-lines"]);
    assert_eq!(output.status.code(), Some(65));
    assert!(
        stderr(&output).contains("bad.jsonl:2"),
        "{}",
        stderr(&output)
    );
    let lines: Vec<serde_json::Value> = stdout(&output)
        .lines()
        .map(|line| serde_json::from_str(line).expect("each line is an object"))
        .collect();
    assert_eq!(lines.len(), 2, "one object for each file, in order");
    assert_eq!(lines[0]["verdict"], "unknown");
    assert_eq!(lines[1]["verdict"], "violated");
    assert_eq!(
        lines[1]["properties"]["mutual-exclusion"]["verdict"],
        "violated"
    );
}

#[test]
fn a_file_that_is_no_history_is_refused_with_the_formats_that_there_are() {
    let folder = temporary();
    let path = folder.path().join("diary.txt");
    fs::write(&path, "Dear diary,\ntoday the lock was lost.\n").expect("it can be written");
    let output = run(&["check", path.to_str().expect("plain")]);
    let shown = stderr(&output);
    assert_eq!(output.status.code(), Some(65), "{shown}");
    for word in [
        "diary.txt",
        "Dear diary",
        "--from",
        "jsonl, json, edn, jepsen-log",
    ] {
        assert!(shown.contains(word), "{word} is missing in\n{shown}");
    }
}

#[test]
fn a_mistake_in_a_history_of_others_is_named_with_line_column_and_remedy() {
    let folder = temporary();
    let path = folder.path().join("history.edn");
    let text = "[{:process 0, :type :invoke, :f :acquire, :value nil}\n \
                {:process 0, :type :okay, :f :acquire, :value nil}]";
    fs::write(&path, text).expect("it can be written");
    let output = run(&["check", path.to_str().expect("plain")]);
    let shown = stderr(&output);
    assert_eq!(output.status.code(), Some(65), "{shown}");
    assert!(shown.contains("history.edn:2:21: "), "{shown}");
    assert!(
        shown.contains("write :invoke, :ok, :fail or :info"),
        "{shown}"
    );
}

#[test]
fn only_limits_the_properties_and_an_unknown_one_is_a_usage_error() {
    let folder = temporary();
    let path = folder.path().join("history.jsonl");
    fs::write(&path, two_holders("lock")).expect("the file can be written");
    let name = path.to_str().expect("a plain name");
    let output = run(&[
        "check",
        name,
        "--only",
        "lost-lock",
        "--format",
        "json-lines",
    ]);
    let line: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("one object");
    let properties = line["properties"].as_object().expect("an object");
    assert_eq!(properties.keys().collect::<Vec<_>>(), ["lost-lock"]);
    let wrong = run(&["check", name, "--only", "beauty"]);
    assert_eq!(wrong.status.code(), Some(64));
    assert!(
        stderr(&wrong).contains("list properties"),
        "{}",
        stderr(&wrong)
    );
}

/// The history names it, a report shows it: as text, nowhere as markup.
#[test]
fn a_key_that_is_markup_stays_text_in_every_report() {
    if !have_server() {
        return;
    }
    let out = temporary();
    let scenario = out.path().join("hostile.toml");
    let shipped = root().join("scenarios/library/examples/amnesiac-restart-single.toml");
    let mut text = fs::read_to_string(shipped).expect("the scenario is shipped");
    for step in ["acquire", "renew", "release"] {
        let with_key = format!("{step} = {{ key = {HOSTILE:?},");
        text = text.replace(&format!("{step} = {{"), &with_key);
    }
    assert!(
        text.contains(HOSTILE),
        "the test must ask for the key, or proves nothing"
    );
    fs::write(&scenario, text).expect("the file can be written");
    let output = run_scenario(scenario.to_str().expect("plain"), out.path(), &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let html = fs::read_to_string(out.path().join("latest/report.html")).expect("it was written");
    assert!(html.contains("&lt;img src=x"), "the key is shown");
    assert!(!html.contains("<img src=x"), "and is inert");
    let junit = fs::read_to_string(out.path().join("latest/junit.xml")).expect("it was written");
    assert!(!junit.contains("<img src=x"), "in JUnit too");
    let markdown = fs::read_to_string(out.path().join("latest/report.md")).expect("it was written");
    assert!(!markdown.contains("\n<img src=x"), "in Markdown too");
}

#[test]
fn wrong_arguments_exit_with_64_and_help_with_0() {
    assert_eq!(run(&["run"]).status.code(), Some(64));
    assert_eq!(run(&["dance"]).status.code(), Some(64));
    for command in [&["run", "x.toml"][..], &["doctor"]] {
        let none = run(&[command, &["--port", "0"]].concat());
        assert_eq!(none.status.code(), Some(64));
        assert!(
            stderr(&none).contains("0 is not in 1..=65535"),
            "{}",
            stderr(&none)
        );
    }
    assert_eq!(run(&["--help"]).status.code(), Some(0));
    let set = run(&[
        "run",
        "scenarios/library/examples/control-single.toml",
        "--set",
        "no-value",
    ]);
    assert_eq!(set.status.code(), Some(64), "{}", stderr(&set));
}

#[test]
fn files_that_are_not_there_are_named() {
    let scenario = run(&["run", "no-such-scenario.toml"]);
    assert_eq!(scenario.status.code(), Some(65), "{}", stderr(&scenario));
    assert!(stderr(&scenario).contains("no-such-scenario.toml"));
    let history = run(&["check", "no-such-history.jsonl"]);
    assert!(
        stderr(&history).contains("no-such-history.jsonl"),
        "{}",
        stderr(&history)
    );
    assert_eq!(history.status.code(), Some(65));
    let report = run(&["report", "no-such-folder"]);
    assert!(
        stderr(&report).contains("no-such-folder"),
        "{}",
        stderr(&report)
    );
    assert_eq!(report.status.code(), Some(65));
}

#[test]
fn a_shipped_scenario_is_found_beside_the_folder_of_its_runs() {
    let place = temporary();
    fs::create_dir(place.path().join("failover-loses-the-lock")).expect("it can be made");
    fs::create_dir(place.path().join("anything")).expect("it can be made");
    let validate = |name: &str| {
        let mut command = lockstorm();
        let output = command
            .args(["validate", name])
            .current_dir(place.path())
            .output();
        output.expect("the program can be started")
    };
    let shipped = validate("failover-loses-the-lock");
    assert_eq!(shipped.status.code(), Some(0), "{}", stderr(&shipped));
    let folder = validate("anything");
    assert_eq!(folder.status.code(), Some(65));
    assert!(
        stderr(&folder).contains("is a folder; name the files in it"),
        "{}",
        stderr(&folder)
    );
}

#[test]
fn a_filter_that_selects_nothing_exits_with_4() {
    let args = [
        "run",
        "scenarios/library/examples/failover-loses-the-lock.toml",
        "--filter",
        "zookeeper",
    ];
    assert_eq!(run(&args).status.code(), Some(4));
}

/// Two clients that hold the same lock at the same time, without any lease.
fn two_holders(key: &str) -> String {
    let event = |time: u64, kind: &str, process: u64, function: &str| {
        format!(
            "{{\"time\":{time},\"type\":\"{kind}\",\"process\":{process},\"f\":\"{function}\",\
             \"key\":\"{key}\"}}\n"
        )
    };
    [
        event(10, "invoke", 0, "acquire"),
        event(20, "ok", 0, "acquire"),
        event(30, "invoke", 1, "acquire"),
        event(40, "ok", 1, "acquire"),
        event(50, "invoke", 0, "release"),
        event(60, "ok", 0, "release"),
    ]
    .concat()
}
