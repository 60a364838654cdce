//! Standard output for machines, and the files that a folder of runs has beside its runs.
//! Method: real runs, whose output is read as its readers do.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{have_server, lockstorm, root, run, run_scenario, stderr, stdout};
use serde_json::Value;

/// A lock changes hands, and nothing is broken.
const HANDED_OVER: &str = r#"
name = "handed-over"
topology.single = {}
lock.token = { lease = "5s" }

[[step]]
acquire = { client = "a", expect = "granted" }

[[step]]
acquire = { client = "b", expect = "refused" }

[[step]]
release = { client = "a" }

[[step]]
acquire = { client = "b", expect = "granted" }

[[step]]
release = { client = "b" }
"#;

fn json(path: &Path) -> Value {
    let text = fs::read_to_string(path).expect("the file is there");
    serde_json::from_str(&text).expect("and is JSON")
}

/// A folder with a scenario in it.
fn handed_over() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("handed-over.toml");
    fs::write(&path, HANDED_OVER).expect("a scenario can be written");
    let path = path.display().to_string();
    (folder, path)
}

/// How many commands of the first two clients had a reply that was waited for, by MONITOR. What
/// opens a connection is none of the lock's.
fn waited_for(log: &str) -> usize {
    let mut clients: Vec<&str> = Vec::new();
    let mut count = 0;
    for line in log.lines().filter(|line| !line.contains(" lua] ")) {
        let (sender, command) = line.split_once("] ").expect("a line names its sender");
        let (_, sender) = sender.rsplit_once(' ').expect("by its address");
        let (address, _) = sender.rsplit_once(':').expect("and its port");
        if clients.len() < 2 && !clients.contains(&address) {
            clients.push(address);
        }
        let is_free = ["\"HELLO\"", "\"PING\"", "\"UNSUBSCRIBE\""]
            .iter()
            .any(|word| command.starts_with(word));
        count += usize::from(clients.contains(&address) && !is_free);
    }
    count
}

#[test]
fn round_trips_are_counted_where_clients_wait_and_nowhere_else() {
    if !have_server() {
        return;
    }
    let (folder, scenario) = handed_over();
    let trips = |scenario: &str, more: &[&str]| {
        let out = folder.path().join("runs");
        let output = run_scenario(scenario, &out, &[&["--report", "none"], more].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        json(&out.join("latest/results.json"))["cost"]["round_trips"].clone()
    };
    // One for each step; the probe of the final phase is not counted.
    assert_eq!(trips(&scenario, &[]), 5);
    // What the server itself tells of: a subscription is waited for, the end of one is not.
    let redisson = "scenarios/library/origin/o16-the-commands.toml";
    let counted = trips(redisson, &[]);
    let log = folder.path().join("runs/latest/nodes/primary/monitor.log");
    let log = fs::read_to_string(log).expect("the scenario asks for it");
    assert_eq!(counted, waited_for(&log), "{log}");
    // Of processes nobody can tell from outside.
    let processes = ["--set", "clients.kind=\"process\""];
    assert_eq!(trips(&scenario, &processes), Value::Null);
}

#[test]
fn the_stream_tells_of_each_run_and_ends_with_the_exit_code() {
    if !have_server() {
        return;
    }
    let (folder, scenario) = handed_over();
    let out = folder.path().join("runs");
    let args = ["--repeat", "2", "--format", "json-lines", "--report", "md"];
    let output = run_scenario(&scenario, &out, &args);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    let parse = |line| serde_json::from_str::<Value>(line).expect("each line is JSON");
    let lines: Vec<Value> = text.lines().map(parse).collect();
    assert!(lines.iter().all(|line| line["v"] == 1), "{text}");
    let events: Vec<&str> = lines
        .iter()
        .filter_map(|line| line["event"].as_str())
        .collect();
    let told: Vec<&str> = events
        .into_iter()
        .filter(|event| *event != "said")
        .collect();
    let run = ["run-began", "run-ended"];
    assert_eq!(told, [&["began"], &run[..], &run, &["ended"]].concat());
    assert_eq!(lines[0]["runs"], 2);
    let last = lines.last().expect("there are lines");
    assert_eq!(
        (&last["exit_code"], &last["outcome"]),
        (&0.into(), &"as-expected".into())
    );
    let files = last["files"].as_array().expect("they are a list");
    assert!(Path::new(files[0].as_str().expect("a path")).is_file());
    let ended = lines.iter().find(|line| line["event"] == "run-ended");
    let stored = ended.expect("a run has ended")["folder"]
        .as_str()
        .expect("a path");
    assert!(Path::new(stored).join("results.json").is_file());
}

#[test]
fn an_answer_that_the_scenario_does_not_expect_fails_at_its_line() {
    if !have_server() {
        return;
    }
    let (folder, scenario) = handed_over();
    let out = folder.path().join("runs");
    let text = HANDED_OVER.replacen("expect = \"refused\"", "expect = \"granted\"", 1);
    fs::write(&scenario, &text).expect("a scenario can be written");
    let output = run_scenario(&scenario, &out, &["--format", "github"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let (before, _) = text
        .split_once("[[step]]\nacquire = { client = \"b\"")
        .expect("b asks");
    let line = before.matches('\n').count() + 1;
    let pinned = format!("::error file={scenario},line={line},title=answer");
    assert!(stdout(&output).contains(&pinned), "{}", stdout(&output));
    let junit = fs::read_to_string(out.join("latest/junit.xml")).expect("it is a usual report");
    assert!(
        junit.contains("failures=\"1\" errors=\"0\"")
            || junit.contains("errors=\"0\" failures=\"1\""),
        "{junit}"
    );
}

#[test]
fn every_run_of_a_suite_says_how_to_repeat_it_alone_with_the_files_that_were_named() {
    if !have_server() {
        return;
    }
    let (folder, scenario) = handed_over();
    let out = folder.path().join("runs");
    let more = [
        "--set",
        "matrix.locks=[{ token = { lease = \"5s\" } }, { redisson = { lease = \"5s\" } }]",
    ];
    let text = HANDED_OVER.replace("topology.single = {}", "").replace(
        "lock.token = { lease = \"5s\" }",
        "matrix.topologies = [{ single = {} }]",
    );
    fs::write(&scenario, text).expect("a scenario can be written");
    let output = run_scenario(
        &scenario,
        &out,
        &[&["--report", "none"], &more[..]].concat(),
    );
    assert!(output.status.success(), "{}", stderr(&output));
    let results = json(&out.join("latest/results.json"));
    for run in results["runs"].as_array().expect("it is a suite") {
        let repeat = run["record"]["rerun"].as_str().expect("it can be repeated");
        assert!(repeat.contains(&format!(" run {scenario} ")), "{repeat}");
        assert!(!repeat.contains("cells/"), "{repeat}");
        let again = Command::new("sh")
            .args(["-c", &format!("{repeat} --format json")])
            .output()
            .expect("there is a shell");
        assert!(again.status.success(), "{}", stderr(&again));
        let again: Value = serde_json::from_str(&stdout(&again)).expect("it is JSON");
        let only = again["runs"]
            .as_array()
            .expect("a filter selects from a suite");
        assert_eq!(only.len(), 1, "{repeat}");
        for part in ["seed", "labels"] {
            assert_eq!(only[0]["record"][part], run["record"][part], "{repeat}");
        }
    }
}

#[test]
fn a_runner_of_github_gets_annotations_and_a_step_summary() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let summary = folder.path().join("summary.md");
    fs::write(&summary, "what an earlier command wrote\n").expect("it can be written");
    let stored = folder.path().join("run");
    copy_failover(&stored);
    let output = lockstorm()
        .args(["report", "--format", "github", "--report", "none"])
        .arg(&stored)
        .env("GITHUB_STEP_SUMMARY", &summary)
        .output()
        .expect("the program can be started");
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        stdout(&output).starts_with("::notice title="),
        "{}",
        stdout(&output)
    );
    let text = fs::read_to_string(&summary).expect("it is there");
    assert!(
        text.starts_with("what an earlier command wrote\n# "),
        "{text}"
    );
}

/// The stored run that the reports are tested with.
fn copy_failover(to: &Path) {
    fs::create_dir_all(to).expect("a folder can be made");
    for name in ["results.json", "history.jsonl", "scenario.toml"] {
        let from = root().join("reports/tests/failover").join(name);
        fs::copy(from, to.join(name)).expect("the fixture can be copied");
    }
}

#[test]
fn a_history_by_itself_is_checked_and_rendered_and_its_format_does_not_matter() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let history = root().join("reports/tests/failover/history.jsonl");
    let history = history.to_str().expect("paths here are plain");
    let out = folder.path().join("report");
    let to = out.to_str().expect("temporary folders have plain names");
    let output = run(&["report", history, "--out", to, "--format", "junit"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let told = stdout(&output);
    assert!(
        told.contains("<failure ") && told.contains("type=\"mutual-exclusion\""),
        "{told}"
    );
    for file in ["report.html", "timeline.png", "report.md", "history.jsonl"] {
        assert!(out.join(file).is_file(), "{file}");
    }
    let first = json(&out.join("results.json"));
    assert_eq!(
        first["outcome"], "unexpected",
        "nobody expected a violation"
    );
    assert_eq!(first["cost"]["grants"], 2);
    // The copy is as good as the original, and may lie where its report goes.
    let copy = out.join("history.jsonl").display().to_string();
    let output = run(&["report", &copy, "--out", to, "--report", "md"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(
        json(&out.join("results.json"))["analysis"],
        first["analysis"]
    );
    // So does one in another format.
    let edn = folder.path().join("history.edn").display().to_string();
    let key = ["--to", "edn", "--out", &edn];
    let output = run(&[&["export", history], &key[..]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let to = folder.path().join("edn").display().to_string();
    let output = run(&["report", &edn, "--out", &to, "--report", "md"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let other = json(&folder.path().join("edn/results.json"));
    let verdict = "/analysis/properties/mutual-exclusion/verdict";
    assert_eq!(other.pointer(verdict), first.pointer(verdict));
}

#[test]
fn a_history_without_a_folder_for_its_report_is_refused_with_the_remedy() {
    let history = root().join("reports/tests/failover/history.jsonl");
    let output = run(&["report", history.to_str().expect("paths here are plain")]);
    assert_eq!(output.status.code(), Some(64), "{}", stderr(&output));
    assert!(stderr(&output).contains("--out DIR"), "{}", stderr(&output));
}

#[test]
fn the_folder_of_runs_lists_all_runs_also_those_that_end_at_once() {
    if !have_server() {
        return;
    }
    let (folder, scenario) = handed_over();
    let out = folder.path().join("runs");
    let start = |seed: &str| {
        let to = out.to_str().expect("temporary folders have plain names");
        let args = [
            "run", &scenario, "--out", to, "--report", "md", "--seed", seed,
        ];
        let quiet = ["--progress", "none"];
        let child = lockstorm().args(args).args(quiet).output();
        child.expect("the program can be started")
    };
    let ended: Vec<_> = std::thread::scope(|scope| {
        let seeds = ["11", "22", "33"];
        let runs = seeds.map(|seed| scope.spawn(move || start(seed)));
        runs.map(|run| run.join().expect("nobody panics")).into()
    });
    for output in &ended {
        assert!(output.status.success(), "{}", stderr(output));
    }
    let page = fs::read_to_string(out.join("index.html")).expect("the list is there");
    for seed in ["11", "22", "33"] {
        assert!(page.contains(&format!("<td>{seed}</td>")), "{seed}: {page}");
    }
}

#[test]
fn every_schema_can_be_printed() {
    let title = |args: &[&str]| {
        let output = run(args);
        assert!(output.status.success(), "{}", stderr(&output));
        let schema: Value = serde_json::from_str(&stdout(&output)).expect("a schema is JSON");
        schema["title"].clone()
    };
    assert_eq!(title(&["schema"]), "Scenario");
    assert_eq!(title(&["schema", "results"]), "results.json of Lockstorm");
    assert_eq!(
        title(&["schema", "history"]),
        "A line of history.jsonl of Lockstorm"
    );
}

#[test]
fn a_program_that_opens_pages_is_given_the_page() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let stored = folder.path().join("run");
    copy_failover(&stored);
    let open = |browser: &str| {
        let output = lockstorm()
            .args(["report", "--open", "--report", "html"])
            .arg(&stored)
            .env("BROWSER", browser)
            .env("PATH", "")
            .output();
        output.expect("the program can be started")
    };
    let output = open("/bin/true");
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        !stderr(&output).contains("open it yourself"),
        "{}",
        stderr(&output)
    );
    let output = open("/no/such/browser");
    assert!(
        output.status.success(),
        "a page that is not shown is there all the same"
    );
    assert!(
        stderr(&output).contains("open it yourself"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_list_of_nothing_in_particular_names_the_lists_that_there_are() {
    let words = |more: &[&str]| {
        let output = run(&[&["list"], more, &["--format", "json"]].concat());
        let entries: Value = serde_json::from_str(&stdout(&output)).expect("it says JSON");
        let entries = entries.as_array().expect("it is a list").clone();
        let names = entries.iter().map(|entry| entry["name"].as_str());
        let names: Vec<String> = names.flatten().map(str::to_owned).collect();
        assert_eq!(names.len(), entries.len(), "each has a name");
        names
    };
    let lists = words(&[]);
    assert!(lists.contains(&"locks".to_owned()), "{lists:?}");
    for list in lists {
        assert!(!words(&[&list]).is_empty(), "{list}");
    }
}

#[test]
fn a_folder_of_scenarios_is_listed_and_no_other_list_takes_one() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let scenario = "name = \"mine\"\nlock.token = {}\ntopology.single = {}\n";
    fs::write(folder.path().join("mine.toml"), scenario).expect("the folder is ours");
    let path = folder.path().to_str().expect("it is plain");
    for words in [&["list"][..], &["list", "scenarios"]] {
        let listed = stdout(&run(&[words, &["--scenarios", path]].concat()));
        assert!(listed.contains("mine.toml"), "{listed}");
        assert_eq!(listed.lines().count(), 1, "{listed}");
    }
    let output = run(&["list", "locks", "--scenarios", path]);
    assert_eq!(output.status.code(), Some(64));
    assert!(stderr(&output).contains("list 'scenarios'"));
}
