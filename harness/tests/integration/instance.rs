//! Clients that are threads of one Redisson instance, against a real server: who they are, what
//! they hear, and that a release wakes one of them and is never slept through.
//!
//! Everything is proved by what the server was sent. Leases are far longer than any test: who is
//! granted the lock has not been saved by the end of one.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::support::test_bed::{TestBed, spec, with_command};
use crate::support::{WITHIN, have_server};
use lockstorm_checker::history::Mode;
use lockstorm_harness::client::AnyLock;
use lockstorm_harness::locks::{
    ClientGroups, Lock as _, LockRequest, Outcome, SharedState, WaitEnd, Waiting as _,
};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

const KEY: &str = "lock";
/// The threads of the instance; the first client is none of them.
const THREADS: usize = 10;
/// Client that takes part as nobody's fellow.
const OUTSIDER: usize = 0;
/// How often whoever waits asks before it waits to be woken: it subscribes after the first try.
const TRIES: usize = 2;
/// Before it tries again, where it can hear nothing.
const PAUSE: Duration = Duration::from_millis(5);
const ASK: LockRequest = LockRequest {
    mode: Mode::Write,
    permits: 1,
    wait: Some(Duration::from_secs(60)),
};
const REDISSON: &str = "redisson = { lease = \"10m\", threads = 10 }";
const FAIR: &str = "redisson-fair = { lease = \"10m\", threads = 10 }";

#[track_caller]
fn assert_done<T: std::fmt::Debug>(outcome: &Outcome<T>) {
    assert!(matches!(outcome, Outcome::Done(_)), "{outcome:?}");
}

/// Tries until granted, as a client does.
async fn obtain(lock: &mut AnyLock, ask: LockRequest) {
    let deadline = Instant::now() + ask.wait.expect("it waits");
    loop {
        match lock.acquire(KEY, ask).await {
            Outcome::Done(_) => break,
            Outcome::Denied => lock.await_turn(KEY, PAUSE, deadline).await,
            odd => panic!("{odd:?}"),
        }
    }
    lock.end_wait(KEY, WaitEnd::Granted).await;
}

/// An outsider that holds the lock, and threads that wait for it in peace.
struct Crowd {
    bed: TestBed,
    holder: AnyLock,
    waiting: JoinSet<AnyLock>,
}

impl Crowd {
    async fn gather(lock: &'static str) -> Self {
        let bed = TestBed::single().await;
        let mut holder = bed.client(OUTSIDER, lock);
        assert_done(&holder.acquire(KEY, ASK).await);
        let instances = ClientGroups::new(&spec(lock));
        let mut waiting = JoinSet::new();
        for n in 0..THREADS {
            let mut thread = bed.thread(1 + n, lock, instances.of(n));
            waiting.spawn(async move {
                obtain(&mut thread, ASK).await;
                thread
            });
            until_scripts(&bed, 1 + (1 + n) * TRIES).await;
        }
        Self {
            bed,
            holder,
            waiting,
        }
    }

    /// The next thread that is granted the lock.
    async fn next(&mut self) -> AnyLock {
        let granted = timeout(WITHIN, self.waiting.join_next()).await;
        let granted = granted.expect("nobody sleeps while the lock is free");
        granted.expect("somebody waits").expect("no thread panics")
    }
}

/// Number of scripts that the server has executed.
async fn scripts(bed: &TestBed) -> usize {
    let stats = bed.ask(&["INFO", "commandstats"]).await;
    let calls = stats
        .lines()
        .find_map(|line| line.strip_prefix("cmdstat_eval:calls="))
        .and_then(|rest| rest.split(',').next());
    calls.map_or(0, |calls| calls.parse().expect("it is a number"))
}

async fn until_scripts(bed: &TestBed, right: usize) {
    let deadline = Instant::now() + WITHIN;
    loop {
        let seen = scripts(bed).await;
        if seen >= right {
            assert_eq!(seen, right, "nobody asks more often than it must");
            return;
        }
        assert!(Instant::now() < deadline, "{seen} scripts, not {right}");
        sleep(Duration::from_millis(5)).await;
    }
}

/// Connections that hear.
async fn listening(bed: &TestBed) -> usize {
    let list = bed.ask(&["CLIENT", "LIST", "TYPE", "pubsub"]).await;
    list.lines().filter(|line| !line.is_empty()).count()
}

/// Ten hand-offs. Each sends a release, the DEL of its latch, and one try: nine refusals would come
/// with it if all were woken.
#[tokio::test(flavor = "multi_thread")]
async fn a_release_wakes_one_thread_of_an_instance_and_that_one_asks_once() {
    if !have_server() {
        return;
    }
    for lock in [REDISSON, FAIR] {
        let mut crowd = Crowd::gather(lock).await;
        let mut monitor = crowd.bed.monitor().await;
        assert_eq!(listening(&crowd.bed).await, 1, "{lock}: one connection");
        let mut owners = BTreeSet::new();
        for _ in 0..THREADS {
            assert_done(&crowd.holder.release(KEY, ASK).await);
            crowd.holder = crowd.next().await;
            owners.insert(crowd.bed.ask(&["HKEYS", KEY]).await);
        }
        assert_done(&crowd.holder.release(KEY, ASK).await);
        let lines = monitor.so_far(&crowd.bed).await;
        let evals = with_command(&lines, "EVAL");
        assert_eq!(evals, 2 * THREADS + 1, "{lock}: {lines:#?}");
        assert_eq!(with_command(&lines, "SUBSCRIBE"), 0, "{lock}: {lines:#?}");
        assert_eq!(
            owners.len(),
            THREADS,
            "{lock}: each is a thread: {owners:?}"
        );
        let uuid = |owner: &String| owner.rsplit_once(':').map(|(uuid, _)| uuid.to_owned());
        let uuids: BTreeSet<_> = owners.iter().map(uuid).collect();
        assert_eq!(uuids.len(), 1, "{lock}: of one instance: {owners:?}");
        // The last one to be granted the lock listens no more, and nobody else does.
        crowd
            .bed
            .until(&["CLIENT", "LIST", "TYPE", "pubsub"], "")
            .await;
    }
}

/// The connection goes, and with it the message of the release that comes at once: nobody hears of
/// that. All ask when they notice the loss, and one of them is granted the lock.
#[tokio::test(flavor = "multi_thread")]
async fn nobody_sleeps_on_a_free_lock_when_the_connection_that_hears_is_lost() {
    if !have_server() {
        return;
    }
    for lock in [REDISSON, FAIR] {
        let mut crowd = Crowd::gather(lock).await;
        for _ in 0..THREADS {
            let killed = ["CLIENT", "KILL", "TYPE", "pubsub"];
            let killed = crowd.bed.number(&killed).await;
            assert!(killed <= 1, "{lock}: there is one connection at most");
            assert_done(&crowd.holder.release(KEY, ASK).await);
            crowd.holder = crowd.next().await;
        }
    }
}

/// Two threads that have looked twice, and wait from now on; and who holds the lock.
async fn two_that_wait(bed: &TestBed) -> (AnyLock, [AnyLock; 2]) {
    let mut holder = bed.client(OUTSIDER, REDISSON);
    assert_done(&holder.acquire(KEY, ASK).await);
    let instance = SharedState::default();
    let mut threads = [1, 2].map(|n| bed.thread(n, REDISSON, instance.clone()));
    for thread in &mut threads {
        assert_eq!(thread.acquire(KEY, ASK).await, Outcome::Denied);
        thread.await_turn(KEY, PAUSE, Instant::now() + WITHIN).await;
        assert_eq!(thread.acquire(KEY, ASK).await, Outcome::Denied);
    }
    (holder, threads)
}

/// Two threads wait, and one message comes: the first is woken by it.
async fn one_of_two_woken(bed: &TestBed) -> [AnyLock; 2] {
    let (mut holder, mut threads) = two_that_wait(bed).await;
    assert_done(&holder.release(KEY, ASK).await);
    let deadline = Instant::now() + ASK.wait.expect("it waits");
    let woken = threads[0].await_turn(KEY, PAUSE, deadline);
    let woken = timeout(WITHIN, woken).await;
    woken.expect("the release wakes it");
    threads
}

/// Waits to be woken, though its last try was refused long before, and is granted the lock.
async fn woken_and_granted(mut thread: AnyLock) {
    let deadline = Instant::now() + ASK.wait.expect("it waits");
    let woken = thread.await_turn(KEY, PAUSE, deadline);
    let woken = timeout(WITHIN, woken).await;
    woken.expect("nobody sleeps while the lock is free");
    assert_done(&thread.acquire(KEY, ASK).await);
}

/// It is woken, and does not come to ask: no other message will follow.
#[tokio::test(flavor = "multi_thread")]
async fn a_thread_that_is_woken_and_gives_up_passes_the_wake_up_on() {
    if !have_server() {
        return;
    }
    let bed = TestBed::single().await;
    let [mut first, second] = one_of_two_woken(&bed).await;
    first.end_wait(KEY, WaitEnd::Refused).await;
    woken_and_granted(second).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_that_is_woken_and_dies_passes_the_wake_up_on() {
    if !have_server() {
        return;
    }
    let bed = TestBed::single().await;
    let [first, second] = one_of_two_woken(&bed).await;
    drop(first);
    woken_and_granted(second).await;
}

/// The key has a type that no script can read, for as long as that one try takes.
#[tokio::test(flavor = "multi_thread")]
async fn a_thread_that_is_woken_and_gets_an_error_passes_the_wake_up_on() {
    if !have_server() {
        return;
    }
    let bed = TestBed::single().await;
    let [mut first, second] = one_of_two_woken(&bed).await;
    bed.ask(&["SET", KEY, "no hash"]).await;
    let odd = first.acquire(KEY, ASK).await;
    assert!(matches!(odd, Outcome::Failed(_)), "{odd:?}");
    bed.ask(&["DEL", KEY]).await;
    first.await_turn(KEY, PAUSE, Instant::now() + WITHIN).await;
    woken_and_granted(second).await;
}

/// The release comes between the second refusal of one thread and its wait. It takes the lock
/// without having waited; the message is still there for the other, and so is that of its release.
#[tokio::test(flavor = "multi_thread")]
async fn a_thread_that_is_granted_the_lock_without_waiting_keeps_no_wake_up_from_the_others() {
    if !have_server() {
        return;
    }
    let bed = TestBed::single().await;
    let (mut holder, [mut first, mut second]) = two_that_wait(&bed).await;
    assert_done(&holder.release(KEY, ASK).await);
    assert_done(&first.acquire(KEY, ASK).await);
    first.end_wait(KEY, WaitEnd::Granted).await;
    let deadline = Instant::now() + ASK.wait.expect("it waits");
    let woken = timeout(WITHIN, second.await_turn(KEY, PAUSE, deadline)).await;
    woken.expect("the message has come");
    assert_eq!(second.acquire(KEY, ASK).await, Outcome::Denied);
    assert_done(&first.release(KEY, ASK).await);
    woken_and_granted(second).await;
}

/// A writer's release is for all that wait: readers share.
#[tokio::test(flavor = "multi_thread")]
async fn the_release_of_a_writer_wakes_all_readers_of_an_instance() {
    if !have_server() {
        return;
    }
    let lock = "redisson-rw = { lease = \"10m\", threads = 3 }";
    let bed = TestBed::single().await;
    let mut writer = bed.client(OUTSIDER, lock);
    assert_done(&writer.acquire(KEY, ASK).await);
    let read = LockRequest {
        mode: Mode::Read,
        ..ASK
    };
    let instance = SharedState::default();
    let mut readers = JoinSet::new();
    for n in 1..=3 {
        let mut reader = bed.thread(n, lock, instance.clone());
        readers.spawn(async move { obtain(&mut reader, read).await });
        until_scripts(&bed, 1 + n * TRIES).await;
    }
    assert_done(&writer.release(KEY, ASK).await);
    let granted = timeout(WITHIN, readers.join_all()).await;
    assert_eq!(granted.expect("no reader sleeps").len(), 3);
}
