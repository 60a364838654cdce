//! Wall clocks of clients that are processes: wrong for one client and nobody else, and seen to be.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::support::{have_server, run_scenario, stderr, stdout};
use serde_json::Value as Json;

/// A run of a script whose clients are processes.
struct Run {
    told: String,
    history: Vec<Json>,
    succeeded: bool,
    _folder: tempfile::TempDir,
}

fn run(head: &str, steps: &[&str]) -> Run {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let mut text = format!(
        "name = \"client-clock\"\ntopology.single = {{}}\nclients.kind = \"process\"\n{head}\n"
    );
    for step in steps {
        text.push_str("[[step]]\n");
        text.push_str(step);
        text.push('\n');
    }
    let path = folder.path().join("client-clock.toml");
    fs::write(&path, text).expect("the file can be written");
    let out = folder.path().join("runs");
    let path = path.to_str().expect("a plain name");
    let output = run_scenario(path, &out, &["--report", "none"]);
    Run {
        told: format!("{}{}", stdout(&output), stderr(&output)),
        history: history(&out),
        succeeded: output.status.success(),
        _folder: folder,
    }
}

fn history(out: &Path) -> Vec<Json> {
    let text = fs::read_to_string(out.join("latest/history.jsonl")).expect("there is a history");
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("it is JSON"))
        .collect()
}

impl Run {
    /// Notes of the nemesis on its faults, stage by stage.
    fn evidence(&self) -> String {
        let notes = self.history.iter().map(Json::to_string);
        let notes = notes.filter(|line| line.contains("\"fault\""));
        notes.collect::<Vec<_>>().join("\n")
    }

    /// The times of each client's calls and answers, in nanoseconds since the start of the run.
    /// Events of two tasks may stand in the file in another order than that of their times: an
    /// event is stamped before it waits for its turn to be written.
    fn times(&self) -> BTreeMap<u64, Vec<u64>> {
        let mut times = BTreeMap::<_, Vec<_>>::new();
        let calls = self.history.iter().filter(|line| line["type"] != "note");
        for line in calls {
            if let (Some(client), Some(time)) = (line["process"].as_u64(), line["time"].as_u64()) {
                times.entry(client).or_default().push(time);
            }
        }
        times
    }
}

const A_DAY_BACK: &str = "clock = { client = \"a\", back = \"24h\" }";

/// A lock that counts time on the server only: who tells its client a wrong time does it no harm,
/// and the history is stamped by a clock that nobody moves.
#[test]
fn a_client_is_told_another_time_and_the_history_is_not() {
    if !have_server() {
        return;
    }
    let run = run(
        "lock.token = { lease = \"2s\" }",
        &[
            "acquire = { client = \"a\", expect = \"granted\" }",
            A_DAY_BACK,
            "acquire = { client = \"b\", expect = \"refused\" }",
            "release = { client = \"a\", expect = \"released\" }",
            "heal = { fault = \"clock\", client = \"a\" }",
            "acquire = { client = \"a\", expect = \"granted\" }",
            "release = { client = \"a\", expect = \"released\" }",
        ],
    );
    assert!(run.succeeded, "{}", run.told);
    let evidence = run.evidence();
    assert!(
        evidence.contains("at last 86400000 ms behind"),
        "{evidence}"
    );
    assert!(evidence.contains("the clock is right again"), "{evidence}");
    let times = run.times();
    let hour_ns = 3_600 * 1_000_000_000;
    assert!(times.values().flatten().count() > 10, "{times:?}");
    for (client, times) in times {
        assert!(times.iter().all(|&time| time < hour_ns), "{client}");
        assert!(times.is_sorted(), "{client}: {times:?}");
    }
}

/// The effect shows only in a client that looks at its clock.
#[test]
fn a_clock_that_nobody_looks_at_proves_nothing() {
    if !have_server() {
        return;
    }
    let run = run(
        "lock.token = { lease = \"2s\" }",
        &[
            "acquire = { client = \"a\", expect = \"granted\" }",
            "acquire = { client = \"b\", expect = \"refused\" }",
            "release = { client = \"a\", expect = \"released\" }",
            A_DAY_BACK,
        ],
    );
    assert!(!run.succeeded, "it must not pass for a test of the lock");
    assert!(
        run.told.contains("its effect was never observed"),
        "{}",
        run.told
    );
}

/// Redisson counts permits by the clocks of its clients: one that is ahead takes back what is in
/// use.
#[test]
fn a_clock_that_drifts_takes_back_permits_that_are_in_use() {
    if !have_server() {
        return;
    }
    let run = run(
        "expect = { mutual-exclusion = \"violated\", lost-lock = \"any\" }\n\
         lock.redisson-permits = { permits = 1, lease = \"1m\" }",
        &[
            "acquire = { client = \"a\", expect = \"granted\" }",
            "acquire = { client = \"b\", expect = \"refused\" }",
            "clock = { client = \"b\", speed = 6000 }",
            "acquire = { client = \"b\", wait = \"2s\", expect = \"granted\" }",
        ],
    );
    assert!(run.succeeded, "{}", run.told);
    assert!(run.evidence().contains("ms ahead"), "{}", run.evidence());
}

/// A clock that stands still lets nothing end by it.
#[test]
fn a_clock_that_stands_still_shows_as_one_that_falls_behind() {
    if !have_server() {
        return;
    }
    let run = run(
        "lock.token = { lease = \"2s\" }",
        &[
            "acquire = { client = \"a\", expect = \"granted\" }",
            "clock = { client = \"a\", speed = 0 }",
            "acquire = { client = \"b\", expect = \"refused\" }",
            "work = { client = \"a\", for = \"20ms\" }",
            "release = { client = \"a\", expect = \"released\" }",
        ],
    );
    assert!(run.succeeded, "{}", run.told);
    assert!(run.evidence().contains("ms behind"), "{}", run.evidence());
}
