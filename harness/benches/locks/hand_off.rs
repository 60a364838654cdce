//! From the release of a lock to the next grant, while one or ten wait: woken by a message, or
//! looking.
//!
//! Counted from the sending of the release to the answer to the acquire, as the history has them.
//! The least that a message can do is two round trips: release, message, acquire and grant each go
//! one way.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use lockstorm_checker::history::{Event, Function, History, Kind, Name};
use lockstorm_harness::client::{Reply, Session};
use lockstorm_harness::locks::{ClientGroups, LockRequest};
use lockstorm_scenarios::DurationRange;
use tokio::task::JoinSet;

use super::stage::{Stage, lock, pause, percentile};

/// How many wait while another client holds the lock.
const WAITERS: [usize; 2] = [1, 10];
/// Hand-offs of each lock.
const HAND_OFFS: usize = 500;
/// Time for which a lock is held: the others are waiting in peace by then.
const HOLD: Duration = Duration::from_millis(4);
/// By how much each lock is held longer than the one before, modulo a millisecond: those that look
/// do so at ticks of a millisecond, and releases are to come at any time between two.
const PHASE_US: u64 = 379;
/// Time for which who had it stays away: one of those that wait is to get it.
const AWAY: Duration = Duration::from_millis(1);
/// Pause of those that look, where the lock does not say: the default of scenarios.
const RETRY: DurationRange = DurationRange::from_millis(5, 20);
/// Locks that tell those who wait, or let them look. With `threads`, all clients are in one
/// instance, otherwise each in one of its own.
const LOCKS: [&str; 6] = [
    "redisson = { lease = \"10s\" }",
    "redisson = { lease = \"10s\", threads = 11 }",
    "redisson-fair = { lease = \"10s\" }",
    "redisson-fair = { lease = \"10s\", threads = 11 }",
    "redisson-spin = { lease = \"10s\" }",
    "token = { lease = \"10s\" }",
];

/// Time that each hand-off took, in microseconds.
#[derive(Default)]
struct Times {
    /// From the release to the acquire that was granted.
    woken: Vec<f64>,
    /// From there to the grant.
    asked: Vec<f64>,
    /// Both.
    whole: Vec<f64>,
}

pub async fn run() {
    println!("hand-off: release to next grant, us; {HAND_OFFS} of each");
    println!("round trips are those of a server and clients that have been idle for {HOLD:?}");
    println!(
        "wait  {:46} median   p90    p99  woken  asked  round trips",
        "lock"
    );
    let stage = Stage::new().await;
    for waiters in WAITERS {
        for name in LOCKS {
            measure(&stage, name, waiters).await;
        }
    }
    println!();
}

async fn measure(stage: &Stage, name: &str, waiters: usize) {
    let before = stage.round_trip_after_us(HOLD).await;
    let mut times = hand_offs(stage, name, waiters + 1).await;
    let round_trip = before.midpoint(stage.round_trip_after_us(HOLD).await);
    let [median, p90, p99] = [50, 90, 99].map(|percent| percentile(&mut times.whole, percent));
    let [woken, asked] = [times.woken, times.asked].map(|mut part| percentile(&mut part, 50));
    let round_trips = median / round_trip;
    println!(
        "{waiters:4}  {name:46} {median:6.0} {p90:5.0} {p99:6.0} {woken:6.0} {asked:6.0}  \
         {round_trips:.1} of {round_trip:.0} us",
    );
}

async fn hand_offs(stage: &Stage, name: &str, clients: usize) -> Times {
    let recorder = stage.recorder();
    let granted: Arc<AtomicUsize> = Arc::default();
    let mut tasks = JoinSet::new();
    let lock = lock(name);
    let instances = ClientGroups::new(&lock);
    for n in 0..clients {
        let session = stage.thread(&lock, n, clients, &recorder, instances.of(n));
        tasks.spawn(compete(session, granted.clone()));
    }
    while let Some(ended) = tasks.join_next().await {
        ended.expect("no client panics");
    }
    recorder.finish().await.expect("the history is complete");
    times(&stage.history())
}

async fn compete(mut session: Session, granted: Arc<AtomicUsize>) {
    let key: Name = "lock".into();
    let ask = LockRequest {
        wait: Some(Duration::from_secs(30)),
        ..LockRequest::default()
    };
    loop {
        assert_eq!(session.acquire_within(&key, ask, RETRY).await, Reply::Done);
        let before = granted.fetch_add(1, Ordering::Relaxed);
        pause(HOLD + Duration::from_micros(before as u64 * PHASE_US % 1_000)).await;
        assert_eq!(session.release(&key, ask).await, Reply::Done);
        if before >= HAND_OFFS {
            return;
        }
        pause(AWAY).await;
    }
}

/// Each grant follows the release before it. A fair lock waits in one operation, whose tries are
/// not in the history; how long it waited before the one that was granted is.
fn times(history: &History) -> Times {
    let mut asked_at = HashMap::new();
    let mut released = None;
    let mut times = Times::default();
    let us = |from: u64, to: u64| to.saturating_sub(from) as f64 / 1e3;
    for event in &history.events {
        let Event {
            time,
            kind,
            process,
            value,
            ..
        } = event;
        let release = event.function == Function::Release;
        if *kind == Kind::Invoke && release {
            released = Some(time.0);
        } else if *kind == Kind::Invoke {
            asked_at.insert(process, time.0);
        } else if *kind == Kind::Ok && !release {
            let asked = asked_at[process] + value.waited_ns.unwrap_or_default();
            if let Some(released) = released {
                times.woken.push(us(released, asked));
                times.asked.push(us(asked, time.0));
                times.whole.push(us(released, time.0));
            }
        }
    }
    times
}
