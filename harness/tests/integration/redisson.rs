//! Redisson's locks against real servers: what each era sends, and what it leaves on the server. A
//! lock of one era that did as another one would fail here.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use crate::support::situations::outcome_of_file;
use crate::support::test_bed::{TestBed, spec, with_command};
use crate::support::{have_server, wait_until};
use lockstorm_checker::history::Mode;
use lockstorm_harness::client::AnyLock;
use lockstorm_harness::locks::{Lock as _, LockRequest, Outcome, WaitEnd, Waiting as _};
use lockstorm_scenarios::{BusyScript, FaultSpec};

/// The key of every test.
const KEY: &str = "lock";
/// One try for all of the lock.
const NOW: LockRequest = LockRequest {
    mode: Mode::Write,
    permits: 1,
    wait: None,
};
/// Time for which whoever waits is ready to wait, in milliseconds.
const WAIT_MS: i64 = 60_000;
/// One try by somebody who is ready to wait.
const WAITING: LockRequest = LockRequest {
    wait: Some(Duration::from_millis(WAIT_MS as u64)),
    ..NOW
};

/// The time to live of a hold that is made short by hand.
const SHORT_MS: &str = "20000";

#[track_caller]
fn assert_done<T: std::fmt::Debug>(outcome: &Outcome<T>) {
    assert!(matches!(outcome, Outcome::Done(_)), "{outcome:?}");
}

#[track_caller]
fn assert_unknown<T: std::fmt::Debug>(outcome: &Outcome<T>) {
    assert!(matches!(outcome, Outcome::Unknown(_)), "{outcome:?}");
}

/// The script, and where there is a latch, the DEL that drops it: nothing else goes to the server.
#[tokio::test(flavor = "multi_thread")]
async fn only_the_newest_era_remembers_its_unlocks_under_a_latch() {
    if !have_server() {
        return;
    }
    let bed = TestBed::single().await;
    for (n, (lock, latched)) in [
        ("redisson = { era = \"3.10\" }", false),
        ("redisson = { era = \"3.17\" }", false),
        ("redisson = { era = \"4.7\" }", true),
        ("redisson = {}", true),
        ("redisson-spin = { era = \"3.17\" }", false),
        ("redisson-spin = {}", true),
        ("redisson-rw = { era = \"3.10\" }", false),
        ("redisson-rw = {}", true),
        ("redisson-fair = { era = \"3.17\" }", false),
        ("redisson-fair = {}", true),
    ]
    .into_iter()
    .enumerate()
    {
        let mut client = bed.client(n, lock);
        let mut monitor = bed.monitor().await;
        for mode in [Mode::Write, Mode::Read] {
            let ask = LockRequest { mode, ..NOW };
            assert_done(&client.acquire(KEY, ask).await);
            assert_done(&client.release(KEY, ask).await);
        }
        let lines = monitor.so_far(&bed).await;
        let latches = lines
            .iter()
            .filter(|line| line.contains("redisson_unlock_latch:{lock}:"));
        let expected = if latched { (4, 2) } else { (0, 0) };
        let seen = (latches.count(), with_command(&lines, "DEL"));
        assert_eq!(seen, expected, "{lock}: {lines:#?}");
        assert_eq!(bed.number(&["DBSIZE"]).await, 0, "{lock} leaves nothing");
    }
}

/// A stolen key must not be given back, and one that has gone is nobody's: in every era, though the
/// older ones of readers and writers say nothing of the latter.
#[tokio::test(flavor = "multi_thread")]
async fn an_unlock_of_what_has_gone_is_refused_but_by_older_readers_and_writers() {
    if !have_server() {
        return;
    }
    let bed = TestBed::single().await;
    for (n, (lock, refused)) in [
        ("redisson = { era = \"3.10\" }", true),
        ("redisson = {}", true),
        ("redisson-rw = { era = \"3.10\" }", false),
        ("redisson-rw = { era = \"3.17\" }", false),
        ("redisson-rw = {}", true),
    ]
    .into_iter()
    .enumerate()
    {
        for mode in [Mode::Write, Mode::Read] {
            let ask = LockRequest { mode, ..NOW };
            let mut client = bed.client(n, lock);
            assert_done(&client.acquire(KEY, ask).await);
            bed.ask(&["FLUSHALL"]).await;
            let released = client.release(KEY, ask).await;
            assert_eq!(
                matches!(released, Outcome::Denied),
                refused,
                "{lock}, {mode:?}: {released:?}"
            );
        }
    }
}

/// The count comes right behind the script, on the connection that wrote: WAIT counts no other.
#[tokio::test(flavor = "multi_thread")]
async fn a_replica_is_asked_on_the_same_connection_by_the_eras_that_ask() {
    if !have_server() {
        return;
    }
    let bed = TestBed::replicated(1).await;
    for (n, (options, asks)) in [
        ("era = \"3.10\"", false),
        ("era = \"3.17\"", true),
        ("era = \"3.17\", sync = \"off\"", false),
        ("era = \"4.7\"", true),
        ("sync = \"all\"", true),
        ("sync = \"off\"", false),
    ]
    .into_iter()
    .enumerate()
    {
        let mut client = bed.client(n, &format!("redisson = {{ {options} }}"));
        let mut monitor = bed.monitor().await;
        assert_done(&client.acquire(KEY, NOW).await);
        assert_done(&client.release(KEY, NOW).await);
        let lines = monitor.so_far(&bed).await;
        let waits = with_command(&lines, "WAIT");
        assert_eq!(waits, if asks { 2 } else { 0 }, "{options}: {lines:#?}");
        let sender = |line: &str| line.split(['[', ']']).nth(1).map(str::to_owned);
        for (at, line) in lines.iter().enumerate() {
            if line.contains("] \"WAIT\" ") {
                let before = &lines[at - 1];
                assert!(before.contains("] \"EVAL\" "), "{options}: {before}");
                assert_eq!(sender(before), sender(line), "{options}: one connection");
            }
        }
    }
}

/// Two replicas, one of which hears nothing: enough for one rule, too few for the other; and when
/// neither hears, too few for both. What was granted too early is left by the era that knew no
/// better.
#[tokio::test(flavor = "multi_thread")]
async fn a_grant_that_too_few_replicas_have_is_withdrawn_by_the_newest_era_and_left_by_3_17() {
    if !have_server() {
        return;
    }
    let mut bed = TestBed::replicated(2).await;
    bed.cut("primary", "replica-1").await;
    let lock = |options: &str| format!("redisson = {{ sync-timeout = \"100ms\", {options} }}");
    for (n, (options, granted, left)) in [
        ("era = \"3.10\"", true, 1),
        ("era = \"3.17\"", false, 1),
        ("era = \"3.17\", sync = \"any\"", true, 1),
        ("era = \"4.7\"", true, 1),
        ("era = \"4.7\", sync = \"all\"", false, 0),
    ]
    .into_iter()
    .enumerate()
    {
        let acquired = bed.client(n, &lock(options)).acquire(KEY, NOW).await;
        if granted {
            assert_done(&acquired);
        } else {
            assert_unknown(&acquired);
        }
        assert_eq!(bed.number(&["EXISTS", KEY]).await, left, "{options}");
        bed.ask(&["FLUSHALL"]).await;
    }
    bed.cut("primary", "replica-2").await;
    for (n, (options, left)) in [("era = \"3.17\", sync = \"any\"", 1), ("era = \"4.7\"", 0)]
        .into_iter()
        .enumerate()
    {
        let acquired = bed.client(n, &lock(options)).acquire(KEY, NOW).await;
        assert_unknown(&acquired);
        assert_eq!(bed.number(&["EXISTS", KEY]).await, left, "{options}");
        bed.ask(&["FLUSHALL"]).await;
    }
}

/// The caller is told the same; they differ in what they leave, and in how often they ask.
#[tokio::test(flavor = "multi_thread")]
async fn the_spin_lock_withdraws_and_asks_no_more_and_the_fenced_one_leaves_its_grant() {
    if !have_server() {
        return;
    }
    let mut bed = TestBed::replicated(1).await;
    bed.cut("primary", "replicas").await;
    for (n, (lock, left, asks_again)) in [
        ("redisson", 0, true),
        ("redisson-spin", 0, false),
        ("redisson-fenced", 1, false),
    ]
    .into_iter()
    .enumerate()
    {
        let mut client = bed.client(n, &format!("{lock} = {{ sync-timeout = \"100ms\" }}"));
        let mut monitor = bed.monitor().await;
        assert_unknown(&client.acquire(KEY, NOW).await);
        let lines = monitor.so_far(&bed).await;
        let acquires = lines
            .iter()
            .filter(|line| line.contains("'HINCRBY', KEYS[1], ARGV[2], 1)"));
        let tries = acquires.count();
        assert_eq!(tries > 1, asks_again, "{lock}: {lines:#?}");
        assert!(tries > 0, "{lock}: {lines:#?}");
        assert_eq!(bed.number(&["EXISTS", KEY]).await, left, "{lock}");
        bed.ask(&["FLUSHALL"]).await;
    }
}

/// The holder has it twice. No replica hears of its unlock, so that it is sent again; the link
/// heals only then. Without the latch both would count, and the lock be free.
#[tokio::test(flavor = "multi_thread")]
async fn an_unlock_that_no_replica_has_is_sent_again_and_counts_once() {
    if !have_server() {
        return;
    }
    let mut bed = TestBed::replicated(1).await;
    let mut client = bed.client(0, "redisson = { sync-timeout = \"100ms\" }");
    assert_done(&client.acquire(KEY, NOW).await);
    assert_done(&client.acquire(KEY, NOW).await);
    bed.cut("primary", "replicas").await;
    let mut monitor = bed.monitor().await;
    let release = tokio::spawn(async move { client.release(KEY, NOW).await });
    let mut sent = 0;
    while sent < 2 {
        sent += usize::from(monitor.next().await.contains("] \"EVAL\" "));
    }
    bed.heal("primary", "replicas").await;
    assert_done(&release.await.expect("the client does not panic"));
    let counts = bed.ask(&["HVALS", KEY]).await;
    assert!(counts.contains('1'), "one hold is left: {counts}");
}

/// An unlock in an era without latches is sent once, and nobody knows what it is worth.
#[tokio::test(flavor = "multi_thread")]
async fn an_unlock_that_a_replica_lacks_is_an_error_in_3_17() {
    if !have_server() {
        return;
    }
    let mut bed = TestBed::replicated(1).await;
    let lock = "redisson = { era = \"3.17\", sync-timeout = \"100ms\" }";
    let mut client = bed.client(0, lock);
    assert_done(&client.acquire(KEY, NOW).await);
    bed.cut("primary", "replicas").await;
    let mut monitor = bed.monitor().await;
    assert_unknown(&client.release(KEY, NOW).await);
    let lines = monitor.so_far(&bed).await;
    assert_eq!(with_command(&lines, "EVAL"), 1, "{lines:#?}");
    assert_eq!(bed.number(&["EXISTS", KEY]).await, 0, "it took effect");
}

/// Two read. The hold of the second is made short by hand, as if it were dead; the first renews.
#[tokio::test(flavor = "multi_thread")]
async fn the_older_eras_keep_dead_readers_with_the_living() {
    if !have_server() {
        return;
    }
    let bed = TestBed::single().await;
    let read = LockRequest {
        mode: Mode::Read,
        ..NOW
    };
    for (n, (options, kept)) in [
        ("era = \"3.10\"", true),
        ("era = \"3.17\"", true),
        ("era = \"4.7\"", false),
    ]
    .into_iter()
    .enumerate()
    {
        let lock = format!("redisson-rw = {{ {options}, lease = \"10m\" }}");
        let mut dead = bed.client(2 * n, &lock);
        assert_done(&dead.acquire(KEY, read).await);
        let hold = bed.ask(&["KEYS", "{lock}:*"]).await;
        let hold = hold.trim_matches(|c: char| "[]\"".contains(c));
        let mut living = bed.client(2 * n + 1, &lock);
        assert_done(&living.acquire(KEY, read).await);
        assert_eq!(bed.number(&["PEXPIRE", hold, SHORT_MS]).await, 1);
        assert_done(&living.renew(KEY, read).await);
        let left = bed.number(&["PTTL", hold]).await;
        let short = SHORT_MS.parse().expect("a number");
        assert_eq!(left > short, kept, "{options}: {left} ms left of {hold}");
        bed.ask(&["FLUSHALL"]).await;
    }
}

/// One holds, three wait. From which of those in front each one's time counts, and who moves up
/// when the second leaves, is what the eras differ in; times of waiters are exact, for each is
/// counted from that of another.
#[tokio::test(flavor = "multi_thread")]
async fn waiters_are_presumed_dead_by_the_rules_of_the_era() {
    if !have_server() {
        return;
    }
    let bed = TestBed::single().await;
    for (n, (options, gaps, gap_left)) in [
        ("era = \"3.10\"", [5_000, 0], 5_000),
        ("era = \"3.10\", fair-wait = \"60s\"", [60_000, 0], 60_000),
        ("era = \"3.17\"", [WAIT_MS, WAIT_MS], WAIT_MS),
        ("era = \"4.7\"", [WAIT_MS, WAIT_MS], WAIT_MS),
        ("fair-wait = \"90s\"", [90_000, 90_000], 90_000),
    ]
    .into_iter()
    .enumerate()
    {
        let lock = format!("redisson-fair = {{ lease = \"10m\", {options} }}");
        let mut clients: Vec<_> = (0..4).map(|c| bed.client(4 * n + c, &lock)).collect();
        assert_done(&clients[0].acquire(KEY, NOW).await);
        for client in &mut clients[1..] {
            let refused = client.acquire(KEY, WAITING).await;
            assert!(matches!(refused, Outcome::Denied), "{options}: {refused:?}");
            assert!(client.queued(KEY), "{options}");
        }
        let [first, second, third] = dead_at(&bed).await[..] else {
            panic!("three wait");
        };
        assert_eq!([second - first, third - second], gaps, "{options}");
        clients[2].end_wait(KEY, WaitEnd::Refused).await;
        let [first, third] = dead_at(&bed).await[..] else {
            panic!("two wait");
        };
        assert_eq!(third - first, gap_left, "{options}");
        bed.ask(&["FLUSHALL"]).await;
    }
}

/// When each waiter is presumed dead, in the order of the queue.
async fn dead_at(bed: &TestBed) -> Vec<i64> {
    let length = bed.number(&["LLEN", "redisson_lock_queue:{lock}"]).await;
    let mut times = Vec::new();
    for at in 0..length {
        let at = at.to_string();
        let waiter = bed
            .ask(&["LINDEX", "redisson_lock_queue:{lock}", &at])
            .await;
        let time = bed
            .number(&["ZSCORE", "redisson_lock_timeout:{lock}", &waiter])
            .await;
        times.push(time);
    }
    times
}

/// The first try of a waiter reaches the server, but its answer is lost. It has a place in the
/// queue then without knowing so, and must give it up all the same: nobody behind it would be
/// served before it is presumed dead.
#[tokio::test(flavor = "multi_thread")]
async fn a_fair_waiter_whose_try_got_no_answer_leaves_the_queue() {
    if !have_server() {
        return;
    }
    let mut bed = TestBed::behind_the_fabric().await;
    let lock = "redisson-fair = { lease = \"10m\" }";
    let mut holder = bed.client(0, lock);
    let mut waiter = bed.client(1, lock);
    assert_done(&holder.acquire(KEY, NOW).await);
    // Nobody gets a connection over a cut link: this one is open before.
    assert_done(&waiter.acquire("another", NOW).await);
    bed.cut("primary", "c1").await;
    assert_unknown(&waiter.acquire(KEY, WAITING).await);
    bed.heal("primary", "c1").await;
    bed.until(&["LLEN", "redisson_lock_queue:{lock}"], "1")
        .await;
    waiter.end_wait(KEY, WaitEnd::Refused).await;
    bed.until(&["LLEN", "redisson_lock_queue:{lock}"], "0")
        .await;
}

/// No replica hears of anything. A refusal changes nothing, but comes after what its client wrote
/// before, and Redisson takes it back like a grant: with one permit out there is another one.
#[tokio::test(flavor = "multi_thread")]
async fn a_semaphore_that_no_replica_has_takes_back_grants_and_refusals() {
    if !have_server() {
        return;
    }
    let mut bed = TestBed::replicated(1).await;
    let lock = "redisson-semaphore = { permits = 1, sync-timeout = \"100ms\" }";
    let (mut holder, mut other) = (bed.client(0, lock), bed.client(1, lock));
    assert_done(&holder.acquire(KEY, NOW).await);
    let refused = other.acquire(KEY, NOW).await;
    assert!(matches!(refused, Outcome::Denied), "{refused:?}");
    assert_done(&other.acquire("another", NOW).await);
    bed.cut("primary", "replicas").await;
    assert_unknown(&other.release("another", NOW).await);
    assert_unknown(&other.acquire("another", NOW).await);
    assert_eq!(bed.number(&["GET", "another"]).await, 1, "it is given back");
    assert_unknown(&other.acquire(KEY, NOW).await);
    assert_eq!(bed.number(&["GET", KEY]).await, 1, "it was never taken");
}

/// An acquire is sent once to a single server, and with WAIT in one batch to one that has replicas;
/// the batch is sent again, and what comes twice counts twice.
#[test]
fn an_acquire_that_asks_replicas_is_sent_again_without_a_reply() {
    if !have_server() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    for (topology, first, next) in [
        ("single = {}", "unknown", "granted"),
        ("replicated = {}", "granted", "not-granted"),
    ] {
        let script = format!(
            r#"
name = "reply-lost"
topology.{topology}
lock.redisson = {{ lease = "5s" }}
step = [
    {{ lose-message = {{ client = "a", operation = "acquire", message = "reply" }} }},
    {{ acquire = {{ client = "a", expect = "{first}" }} }},
    {{ release = {{ client = "a" }} }},
    {{ acquire = {{ client = "b", expect = "{next}" }} }},
]
"#
        );
        let path = folder.path().join("reply-lost.toml");
        fs::write(&path, script).expect("the file can be written");
        let run = outcome_of_file(&path, &[]).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(run.stopped, None, "{topology}");
    }
}

/// A server that runs a script of somebody else's refuses everything until that is ended. The
/// second time that a client asks shows that it goes on after the first refusal.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_busy_server_refuses_is_sent_again_but_by_3_10() {
    if !have_server() {
        return;
    }
    let mut bed = TestBed::single().await;
    let busy = FaultSpec::BusyScript(BusyScript {
        node: "primary".into(),
    });
    for (n, (era, asks_again)) in [("3.10", false), ("3.17", true), ("4.7", true)]
        .into_iter()
        .enumerate()
    {
        let context = bed.context(n);
        let gate = Arc::clone(&context.dialer.gate);
        let lock = spec(&format!("redisson = {{ era = \"{era}\" }}"));
        let mut client = AnyLock::new(&lock, context).expect("it is one of ours");
        client.connect().await;
        let injected = bed.nemesis.inject(&busy).await;
        injected.expect("the server is busy");
        let before = gate.commands();
        let asking = tokio::spawn(async move { client.acquire(KEY, NOW).await });
        wait_until("it has asked twice, or given up", || {
            gate.commands() >= before + 2 || asking.is_finished()
        });
        let healed = bed.nemesis.heal("busy-script", "primary").await;
        healed.expect("the script is ended");
        let acquired = asking.await.expect("the client does not panic");
        if asks_again {
            assert_done(&acquired);
        } else {
            assert!(matches!(acquired, Outcome::Failed(_)), "{acquired:?}");
        }
        bed.ask(&["FLUSHALL"]).await;
    }
}
