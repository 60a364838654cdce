//! `lockstorm assess`: what a lock promises and keeps, and what it breaks.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::{TRIES_MAX, have_server, lockstorm, root, stderr, stdout};
use serde_json::Value;

const REDIS_PY: &str = "adapters/python/redis-py/run";

/// An assessment without reports, its runs going to `out`.
fn assess(out: &Path, args: &[&str]) -> Output {
    let mut command = lockstorm();
    command.args(["assess", "--report", "none", "--progress", "none", "--out"]);
    command.arg(out).args(args);
    command.output().expect("the program can be started")
}

/// Repeats an assessment until every run of it could tell, a few times at most: a busy machine may
/// take servers for dead that no situation has touched.
fn told(out: &Path, args: &[&str]) -> Output {
    let mut last = assess(out, args);
    for _ in 1..TRIES_MAX {
        if !stderr(&last).contains("could not tell") {
            break;
        }
        last = assess(out, args);
    }
    last
}

/// Words that a terminal of any width shows, on one line.
fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The folder of the only assessment below `out`.
fn folder(out: &Path) -> PathBuf {
    let inside = fs::read_dir(out.join("assess")).expect("there is an assessment");
    let newest = inside
        .map(|entry| entry.expect("it can be read").path())
        .max();
    newest.expect("there is one")
}

#[test]
fn a_known_bad_lock_is_broken_by_situations_that_do_not_name_it_and_a_good_one_is_not() {
    if !have_server() {
        return;
    }
    let out = tempfile::tempdir().unwrap();
    let which = ["--only", "plain-use", "--only", "release-by-a-stranger"];
    let mut args = vec!["token", "plain-del", "--topology", "single"];
    args.extend(which);
    let output = told(out.path(), &args);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(
        text.contains("✗ FAIL · plain-del broke exclusive, own-release (4 runs)"),
        "{text}"
    );
    assert!(
        text.contains("own-release is broken by: release by a stranger (single)"),
        "{text}"
    );
    assert!(!text.contains("token broke"), "{text}");
}

#[test]
fn a_lock_without_expiry_between_two_commands_cannot_be_obtained() {
    if !have_server() {
        return;
    }
    let out = tempfile::tempdir().unwrap();
    let only = ["--topology", "single", "--only", "dies-between-commands"];
    let output = told(out.path(), &[&["setnx", "token"][..], &only].concat());
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("setnx broke obtainable (2 runs)"), "{text}");
}

#[test]
fn what_a_lock_does_not_promise_is_told_and_no_failure_unless_the_user_says_it_does() {
    if !have_server() {
        return;
    }
    let out = tempfile::tempdir().unwrap();
    let args = ["token", "--only", "failover-before"];
    let output = told(out.path(), &args);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(
        text.contains("survives-failover is not promised, and would be broken by"),
        "{text}"
    );
    let promised = [&args[..], &["--promise", "survives-failover"]].concat();
    let output = told(out.path(), &promised);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("token broke survives-failover"), "{text}");
    let repeat = text
        .lines()
        .find(|line| line.starts_with("repeat"))
        .unwrap();
    assert!(
        repeat.contains("--promise survives-failover --only failover-before"),
        "{repeat}"
    );
}

#[test]
fn an_overrun_is_inherent_and_breaks_nothing() {
    if !have_server() {
        return;
    }
    let out = tempfile::tempdir().unwrap();
    let output = told(
        out.path(),
        &["token", "--topology", "single", "--only", "client-pause"],
    );
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(
        text.contains("lease overrun is inherent in: client pause"),
        "{text}"
    );
}

#[test]
fn each_run_is_stored_with_its_promises_and_runs_again_by_its_own_command() {
    if !have_server() {
        return;
    }
    let out = tempfile::tempdir().unwrap();
    let args = [
        "token",
        "--topology",
        "single",
        "--only",
        "plain-use",
        "--format",
        "json",
    ];
    let output = told(out.path(), &args);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let suite: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let run = &suite["runs"][0];
    let tested = &run["record"]["situation"];
    assert_eq!(tested["tests"][0], "exclusive", "{tested}");
    assert_eq!(tested["by_answers"][0], "obtainable", "{tested}");
    let cell = folder(out.path()).join(run["folder"].as_str().unwrap());
    let again = lockstorm()
        .args(["run", "--report", "none", "--out"])
        .arg(out.path())
        .arg(cell.join("scenario.toml"))
        .output()
        .unwrap();
    let text = stderr(&again);
    assert_eq!(again.status.code(), Some(0), "{text}");
    assert!(text.contains("kept: exclusive"), "{text}");
    let rendered = lockstorm()
        .arg("report")
        .arg(folder(out.path()))
        .output()
        .unwrap();
    assert!(rendered.status.success(), "{}", stderr(&rendered));
    let page = fs::read_to_string(folder(out.path()).join("report.html")).unwrap();
    assert!(
        page.contains("id=\"promises\""),
        "the page has the table of promises"
    );
}

#[test]
fn everything_is_run_as_often_as_is_asked_each_time_with_another_seed() {
    if !have_server() {
        return;
    }
    let out = tempfile::tempdir().unwrap();
    let which = ["--topology", "single", "--only", "release-by-a-stranger"];
    let often = ["--repeat", "3", "--format", "json"];
    let output = assess(out.path(), &[&["token"][..], &which, &often].concat());
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    let suite: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let runs = suite["runs"].as_array().unwrap().iter();
    let seeds: BTreeSet<_> = runs.map(|run| run["record"]["seed"].to_string()).collect();
    assert_eq!(seeds.len(), 3, "{seeds:?}");
    assert!(
        text.contains("--only release-by-a-stranger --repeat 3"),
        "{text}"
    );
}

#[test]
fn an_adapter_says_who_it_is_and_where_it_cannot_be() {
    if !have_server()
        || !root()
            .join("adapters/python/redis-py/.venv/bin/python")
            .exists()
    {
        return;
    }
    let out = tempfile::tempdir().unwrap();
    let args = [
        "--adapter",
        REDIS_PY,
        "--only",
        "plain-use",
        "--topology",
        "single",
    ];
    let output = told(out.path(), &args);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("redis-py Lock"), "{text}");
    assert!(
        text.contains("settles"),
        "programs can hang, and are judged by it: {text}"
    );
}

/// Hazards and labels of the runs of an assessment in JSON.
fn hazards(output: &Output) -> BTreeSet<String> {
    let suite: Value = serde_json::from_str(&stdout(output)).expect("it is JSON");
    let runs = suite["runs"].as_array().expect("it has runs").iter();
    let hazard = |run: &Value| {
        run["record"]["labels"]["hazard"]
            .as_str()
            .map(str::to_owned)
    };
    runs.filter_map(hazard).collect()
}

#[test]
fn of_a_situation_that_hits_several_servers_one_number_can_be_asked_for() {
    if !have_server() {
        return;
    }
    let out = tempfile::tempdir().unwrap();
    let which = [
        "--topology",
        "independent",
        "--only",
        "1 of the servers killed",
    ];
    let output = assess(
        out.path(),
        &[&["redlock", "--format", "json"][..], &which].concat(),
    );
    let text = stderr(&output);
    let expected = "1 of the servers killed".to_owned();
    assert_eq!(hazards(&output), BTreeSet::from([expected]), "{text}");
}

#[test]
fn a_situation_for_other_servers_is_left_out_and_the_table_says_why() {
    if !have_server() {
        return;
    }
    let out = tempfile::tempdir().unwrap();
    let which = ["--only", "plain-use", "--only", "slot-moves"];
    let output = assess(
        out.path(),
        &[&["token", "--topology", "single"][..], &which].concat(),
    );
    let text = plain(&stderr(&output));
    let why = "it means something on other servers only";
    assert!(text.contains(why), "{text}");
    assert!(text.contains("was broken in 1 run "), "{text}");
}

/// One holds the lock, and another does not get it.
const KEPT_OUT: &str = r#"
name = "kept-out"
hazard = "kept out"
situation.tests = ["obtainable"]
situation.lease = "20s"
situation.renewed = RENEWED
situation.topologies = [{ single = {} }]
step = [
    { acquire = { client = "a", expect = "granted" } },
    OTHERS
    { acquire = { client = "z", wait = "100ms", expect = "granted", breaks = "obtainable" } },
]
"#;

/// Another was granted the lock since, and is dead.
const TAKEN_OVER: &str = r#"
    { acquire = { client = "b" } },
    { delete-key = { key = "lock" } },
    { acquire = { client = "b", expect = "granted" } },
    { kill-client = { client = "b" } },
"#;

#[test]
fn who_is_kept_out_by_a_holder_that_lives_and_renews_was_refused_rightly() {
    if !have_server() {
        return;
    }
    let broken = (1, "token broke obtainable");
    let rightly = (2, "expected granted, got refused, and 'a' has it");
    for (renewed, others, (code, words)) in [
        ("false", "", broken),
        ("true", "", rightly),
        ("true", TAKEN_OVER, broken),
    ] {
        let out = tempfile::tempdir().unwrap();
        let path = out.path().join("kept-out.toml");
        let text = KEPT_OUT.replace("RENEWED", renewed);
        fs::write(&path, text.replace("OTHERS", others)).unwrap();
        let path = path.to_str().expect("a plain name");
        let which = ["--situation", path, "--only", "kept-out"];
        let output = assess(out.path(), &[&["token"][..], &which].concat());
        let text = plain(&stderr(&output));
        assert_eq!(output.status.code(), Some(code), "{renewed}: {text}");
        assert!(text.contains(words), "{renewed}: {text}");
    }
}

#[test]
fn what_cannot_be_assessed_is_told_before_anything_runs() {
    let out = tempfile::tempdir().unwrap();
    for (args, code, words) in [
        (&[][..], 64, "name a lock"),
        (&["tokn"], 64, "unknown lock 'tokn'"),
        (&["token={leese=\"1s\"}"], 64, "leese"),
        (
            &["token", "--only", "nothing-like-this"],
            4,
            "no situation is selected",
        ),
        (
            &["token", "--only", "slot-moves", "--topology", "single"],
            4,
            "'slot-moves' is one for cluster",
        ),
        (
            &["token", "--promise", "fast"],
            64,
            "must be one of exclusive",
        ),
        (
            &["token", "--topology", "external"],
            64,
            "must be one of single",
        ),
        (&["--adapter", " "], 64, "must name a program"),
    ] {
        let output = assess(out.path(), args);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {text}");
        assert!(text.contains(words), "{args:?}: {text}");
    }
}

/// The adapter of the guide, as its reader would write it down.
fn adapter_of_the_guide(folder: &Path) -> PathBuf {
    let guide = fs::read_to_string(root().join("docs/assess.md")).expect("the guide is there");
    let (_, rest) = guide.split_once("```python\n").expect("it has an adapter");
    let (program, _) = rest.split_once("```").expect("the block ends");
    let path = folder.join("mine.py");
    fs::write(&path, program).expect("it can be written");
    path
}

/// The program, with the kit for Python where adapters find it.
fn with_kit(args: &[&str]) -> Command {
    let mut kit = lockstorm();
    kit.env("PYTHONPATH", "adapters/sdk/python").args(args);
    kit
}

#[test]
fn the_adapter_of_the_guide_speaks_the_protocol_and_breaks_what_the_guide_says() {
    let python = root().join("adapters/python/redis-py/.venv/bin/python");
    if !have_server() || !python.exists() {
        return;
    }
    let out = tempfile::tempdir().unwrap();
    let mine = adapter_of_the_guide(out.path());
    let command = format!("{} {}", python.display(), mine.display());
    let checked = with_kit(&["adapter", "test", "--out"])
        .args([out.path(), &python, &mine])
        .output()
        .unwrap();
    let said = stdout(&checked);
    assert!(
        said.contains("✓ refuses a held lock to another client"),
        "{said}"
    );
    assert!(
        said.contains("release by who does not hold it was answered"),
        "{said}"
    );
    let which = ["--topology", "single", "--only", "release-by"];
    let assessed = with_kit(&["assess", "--adapter", &command])
        .args(which)
        .arg("--out")
        .arg(out.path())
        .output()
        .unwrap();
    let said = stderr(&assessed);
    assert_eq!(assessed.status.code(), Some(1), "{said}");
    assert!(
        said.contains("my own lock 1.0 broke exclusive, own-release"),
        "{said}"
    );
}

#[test]
fn a_library_is_put_only_into_what_it_can_do() {
    let python = root().join("adapters/python/redis-py/.venv/bin/python");
    if !have_server() || !python.exists() {
        return;
    }
    let out = tempfile::tempdir().unwrap();
    let mine = adapter_of_the_guide(out.path());
    let of_the_guide = fs::read_to_string(&mine).unwrap();
    let command = format!("{} {}", python.display(), mine.display());
    let told = ("release-stops-renewals", "· release stops renewals:");
    let ended = ("work-outlasts-lease", "· work outlasts the lease:");
    let cannot = "cannot extend a lease when it is told to";
    let renews = "its library renews every lease, and one has to end here";
    for (can, (situation, ran), reason) in [
        ("()", told, Some(cannot)),
        ("(\"silent-watchdog\",)", told, None),
        ("()", ended, None),
        ("(\"always-renews\",)", ended, Some(renews)),
    ] {
        let named = format!("class Mine(Adapter):\n    can = {can}");
        let program = of_the_guide.replace("class Mine(Adapter):", &named);
        fs::write(&mine, program).unwrap();
        let which = [
            "--topology",
            "single",
            "--only",
            situation,
            "--only",
            "plain-use",
        ];
        let assessed = with_kit(&["assess", "--adapter", &command])
            .args(which)
            .arg("--out")
            .arg(out.path())
            .output()
            .unwrap();
        // Sentences are broken where lines end.
        let said = stderr(&assessed);
        let words: Vec<&str> = said.split_whitespace().collect();
        let words = words.join(" ");
        assert_eq!(said.contains(ran), reason.is_none(), "{said}");
        for known in [cannot, renews] {
            assert_eq!(words.contains(known), reason == Some(known), "{said}");
        }
    }
}
