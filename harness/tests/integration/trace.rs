//! Traces: words of real servers about the locks while a run lasts.
//!
//! Goal: the story of a lost lock says where it got lost, in the servers' own words, and nothing
//! happens because somebody asked. Method: the failover that loses the lock with each kind of
//! trace, and a look at keys in every state that a look could change.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::support::test_bed::TestBed;
use crate::support::{have_server, have_system, run, run_scenario, stderr, stdout};
use lockstorm_checker::history::read_jsonl;
use lockstorm_harness::client::AnyLock;
use lockstorm_harness::locks::{Lock as _, LockRequest, Outcome};
use lockstorm_scenarios::{LockKind, System, TopologyKind, typed_lock};
use serde_json::{Value as Json, json};
use tokio::time::{Instant, sleep};

const FAILOVER: &str = "scenarios/library/examples/failover-loses-the-lock.toml";

/// Runs at most, on a machine that is too busy to let servers answer in time. The trace says so.
const RUNS_MAX: u32 = 10;

/// The story of two holders, a line for each step, of a run with these arguments.
fn story(out: &Path, more: &[&str]) -> Vec<String> {
    for _ in 0..RUNS_MAX {
        let output = run_scenario(FAILOVER, out, &[&["--report", "none"], more].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        let results = fs::read_to_string(out.join("latest/results.json"));
        let story = steps(&results.expect("a run has results"));
        if !story.iter().any(|step| step.contains("no reply within")) {
            return story;
        }
    }
    panic!("the servers do not answer in time, {RUNS_MAX} times");
}

fn steps(results: &str) -> Vec<String> {
    let results: Json = serde_json::from_str(results).expect("results are JSON");
    // `check` answers with a list, one for each file.
    let analysis = &results.get(0).unwrap_or(&results)["analysis"];
    let story = &analysis["properties"]["mutual-exclusion"]["witnesses"][0]["story"];
    let steps = story.as_array().expect("two clients hold the lock").iter();
    let text = |step: &Json| {
        step["text"]
            .as_str()
            .expect("a step is a sentence")
            .to_owned()
    };
    steps.map(text).collect()
}

/// Where the first step is that contains all of these.
fn place(story: &[String], parts: &[&str]) -> usize {
    let found = |step: &String| parts.iter().all(|part| step.contains(part));
    let place = story.iter().position(found);
    place.unwrap_or_else(|| panic!("no step with {parts:?} in\n{}", story.join("\n")))
}

#[test]
fn with_the_probe_the_primary_knows_of_the_holder_and_the_promoted_replica_of_nobody() {
    if !have_server() {
        return;
    }
    let out = tempfile::tempdir().expect("a temporary folder can be made");
    let story = story(out.path(), &["--trace", "probe"]);
    let held = place(
        &story,
        &[
            "primary (primary): held by a, ",
            " s left; replica-1 (replica): no such key",
        ],
    );
    let dead = place(
        &story,
        &["primary: no answer, it is dead (before: primary, held by a)"],
    );
    let ignorant = place(
        &story,
        &["replica-1 (primary): no such key (before: replica, no such key)"],
    );
    let granted = place(&story, &["b was granted"]);
    let other = place(&story, &["replica-1 (primary): held by b, "]);
    assert!(
        held < dead && dead < ignorant && ignorant < granted && granted < other,
        "{}",
        story.join("\n")
    );
    assert!(!out.path().join("latest/nodes/primary/monitor.log").exists());

    let history = out.path().join("latest/history.jsonl");
    let history = history
        .to_str()
        .expect("temporary folders have plain names");
    let again = run(&["check", history, "--format", "json"]);
    assert_eq!(steps(&stdout(&again)), story, "a stored run tells the same");
}

/// Only the program of such a client knows by which random value it holds.
#[test]
fn a_client_that_is_a_process_is_known_to_the_probe_by_name() {
    if !have_server() {
        return;
    }
    let out = tempfile::tempdir().expect("a temporary folder can be made");
    let args = ["--trace", "probe", "--set", "clients.kind=process"];
    let story = story(out.path(), &args);
    place(&story, &["primary (primary): held by a, "]);
    place(&story, &["replica-1 (primary): held by b, "]);
}

#[test]
fn with_the_monitor_the_story_shows_the_commands_of_both_holders_and_who_sent_them() {
    if !have_server() {
        return;
    }
    let out = tempfile::tempdir().expect("a temporary folder can be made");
    let story = story(out.path(), &["--trace", "monitor"]);
    let first = place(&story, &["a sent primary: SET lock ", " NX PX 2000"]);
    let second = place(&story, &["b sent replica-1: SET lock ", " NX PX 2000"]);
    assert!(first < second, "{}", story.join("\n"));
    assert!(!story.iter().any(|step| step.contains("the servers on")));
    let log = out.path().join("latest/nodes/replica-1/monitor.log");
    let log = fs::read_to_string(log).expect("all that was heard is kept");
    assert!(log.contains("\"SET\" \"lock\""), "{log}");
}

#[test]
fn a_litmus_is_traced_unless_it_asks_for_no_trace() {
    if !have_server() {
        return;
    }
    let told = |step: &String| step.contains("the servers on") || step.contains(": SET lock");
    let out = tempfile::tempdir().expect("a temporary folder can be made");
    let usual = story(out.path(), &[]);
    assert!(usual.iter().any(told), "{}", usual.join("\n"));
    for args in [["--trace", "none"], ["--set", "trace=[]"]] {
        let out = tempfile::tempdir().expect("a temporary folder can be made");
        let story = story(out.path(), &args);
        assert!(!story.iter().any(told), "{}", story.join("\n"));
    }
}

/// Nobody asks for it: it stands in each grant, and in a note for each promotion.
#[test]
fn without_a_trace_the_story_says_who_gave_each_grant_and_who_was_promoted() {
    if !have_server() {
        return;
    }
    let out = tempfile::tempdir().expect("a temporary folder can be made");
    let story = story(out.path(), &["--trace", "none"]);
    let first = place(&story, &["a was granted \"lock\" by primary, "]);
    let promoted = place(
        &story,
        &["replica-1 takes itself for a primary; until now it was a replica"],
    );
    let second = place(&story, &["b was granted \"lock\" by replica-1 (primary), "]);
    assert!(
        first < promoted && promoted < second,
        "{}",
        story.join("\n")
    );
}

/// A client that works nearly all of the time is seen at it, however few looks there are.
#[test]
fn in_a_storm_the_servers_are_asked_again_and_again() {
    if !have_server() {
        return;
    }
    let out = tempfile::tempdir().expect("a temporary folder can be made");
    let storm = "scenarios/library/storms/storm-single.toml";
    let sets = ["storm.duration=3s", "clients.hold=200ms", "clients.keys=1"];
    let sets = sets.iter().flat_map(|set| ["--set", set]);
    let args: Vec<&str> = ["--report", "none", "--trace", "probe"]
        .into_iter()
        .chain(sets)
        .collect();
    let output = run_scenario(storm, out.path(), &args);
    let file = fs::File::open(out.path().join("latest/history.jsonl")).expect("a run has one");
    let history = read_jsonl(std::io::BufReader::new(file), "history").expect("it can be read");
    let views = history
        .events
        .iter()
        .filter_map(|event| event.value.view.as_ref());
    let held = views.filter(|view| view.nodes.iter().any(|node| !node.held_by.is_empty()));
    assert!(held.count() > 1, "{}", stderr(&output));
}

/// A primary deletes what has expired as soon as anybody reads it, and tells its replicas: who only
/// wants to know must not be the one.
#[tokio::test]
async fn a_key_that_has_expired_is_left_where_it_is() {
    if !have_server() {
        return;
    }
    let bed = TestBed::single().await;
    bed.ask(&["DEBUG", "SET-ACTIVE-EXPIRE", "0"]).await;
    bed.ask(&["SET", "lock", "mark-of-a", "PX", "1"]).await;
    let deadline = Instant::now() + crate::support::WITHIN;
    // KEYS passes over what has expired without removing it.
    while !bed.ask(&["KEYS", "lock"]).await.is_empty() {
        assert!(Instant::now() < deadline, "the key does not expire");
        sleep(Duration::from_millis(2)).await;
    }

    let views = bed.views(&["lock"]).await;

    assert!(
        !views[0].1[0].is_there(),
        "to clients it is gone: {views:?}"
    );
    let there = bed.ask(&["DEBUG", "OBJECT", "lock"]).await;
    assert!(there.starts_with("Value at:"), "{there}");
    let stats = bed.ask(&["INFO", "stats"]).await;
    assert!(stats.contains("expired_keys:0\r\n"), "{stats}");
    // What shows that reading it would have made a difference.
    assert_eq!(bed.ask(&["GET", "lock"]).await, "");
    let stats = bed.ask(&["INFO", "stats"]).await;
    assert!(stats.contains("expired_keys:1\r\n"), "{stats}");
}

#[tokio::test]
async fn a_look_tells_holders_contents_and_ends_and_changes_nothing() {
    if !have_server() {
        return;
    }
    let bed = TestBed::single().await;
    bed.ask(&["SET", "a's", "mark-of-a", "PX", "60000"]).await;
    bed.ask(&["SET", "odd*[x]", "another's"]).await;
    bed.ask(&["HSET", "hash", "mark-of-a", "2"]).await;
    bed.ask(&["ZADD", "queue", "1", "x"]).await;
    let written = async || {
        let info = bed.ask(&["INFO", "persistence"]).await;
        let changes = info.lines().find(|line| line.starts_with("rdb_changes"));
        changes.expect("INFO counts changes").to_owned()
    };
    let before = written().await;

    let views = bed
        .views(&["a's", "odd*[x]", "hash", "queue", "none"])
        .await;

    assert_eq!(written().await, before, "nothing was written");
    let told: Vec<_> = views
        .iter()
        .map(|(key, nodes)| {
            let view = &nodes[0];
            let holders: Vec<&str> = view.held_by.iter().map(|name| &**name).collect();
            (key.as_str(), holders, view.content.as_deref())
        })
        .collect();
    assert_eq!(
        told,
        [
            ("a's", vec!["a"], None),
            ("odd*[x]", vec![], Some("the value another's")),
            ("hash", vec!["a"], None),
            ("queue", vec![], Some("a zset of one member")),
            ("none", vec![], None),
        ]
    );
    let left = views[0].1[0].left_ms.expect("it has an end");
    assert!(left > 0 && left <= 60_000, "{left}");
    assert_eq!(views[1].1[0].left_ms, None, "it has none");
}

/// Locks that end only when they are given back. A key that counts permits is of nobody, and stays.
const ENDLESS: [LockKind; 3] = [
    LockKind::MysqlUniqueIndex,
    LockKind::RedissonSemaphore,
    LockKind::RedissonPermits,
];

#[tokio::test]
async fn a_server_tells_how_a_lock_ends_whichever_it_is() {
    if !have_server() {
        return;
    }
    for kind in LockKind::ALL {
        let mut all = TopologyKind::ALL.into_iter();
        let on = all.find(|on| {
            let is_ours = *on != TopologyKind::External && on.system() != System::Custom;
            is_ours && kind.supports(*on)
        });
        let is_lock = ![LockKind::Adapter, LockKind::NoLock].contains(&kind);
        let Some(on) = on.filter(|on| is_lock && have_system(on.system())) else {
            continue;
        };
        let topology = serde_json::from_value(json!({ on.name(): {} }));
        let bed = TestBed::new(topology.expect("it has usual options"), false).await;
        let lock = typed_lock(kind.name()).expect("it is one of ours");
        let mut context = bed.context(0);
        context.dialer.reply_timeout *= 6;
        let mut client = AnyLock::new(&lock, context).expect("it is one of ours");
        let granted = client.acquire("lock", LockRequest::default()).await;
        assert!(matches!(granted, Outcome::Done(_)), "{kind:?}: {granted:?}");
        let views = bed.views(&["lock"]).await;
        let mut nodes = views.iter().flat_map(|(_, nodes)| nodes);
        let there = nodes.find(|node| node.is_there());
        let there = there.unwrap_or_else(|| panic!("{kind:?}: {views:?}"));
        let ends = there.left_ms.is_some() || there.until.is_some();
        assert_eq!(ends, !ENDLESS.contains(&kind), "{kind:?}: {there:?}");
    }
}
