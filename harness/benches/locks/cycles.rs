//! Cycles of acquire and release per second, each client on a key of its own.
//!
//! The locks take turns, in an order that moves on, so that a machine whose speed drifts is unfair
//! to none.

use std::time::{Duration, Instant};

use lockstorm_checker::history::Name;
use lockstorm_harness::client::Reply;
use lockstorm_harness::locks::LockRequest;
use tokio::task::JoinSet;

use super::stage::{Stage, lock, percentile};

/// Turns of each lock.
const TURNS: usize = 9;
/// Length of one turn.
const TURN: Duration = Duration::from_secs(1);
/// Locks to compare, the first being the measure of the others.
const LOCKS: [&str; 4] = [
    "token = { lease = \"10s\" }",
    "redisson = { lease = \"10s\" }",
    "redisson = { lease = \"10s\", era = \"3.10\" }",
    "redisson-fair = { lease = \"10s\" }",
];

pub async fn run() {
    println!("cycles: acquire and release, a key for each client (median of {TURNS} turns)");
    println!(
        "clients  lock                                      cycles/s  of token  round trip us"
    );
    let stage = Stage::new().await;
    for clients in [1, 10] {
        compare(&stage, clients).await;
    }
    println!();
}

async fn compare(stage: &Stage, clients: usize) {
    let mut rates = [const { Vec::new() }; LOCKS.len()];
    let mut round_trips = Vec::new();
    for turn in 0..TURNS {
        round_trips.push(stage.round_trip_us().await);
        for n in 0..LOCKS.len() {
            let at = (turn + n) % LOCKS.len();
            rates[at].push(one_turn(stage, LOCKS[at], clients).await);
        }
    }
    let round_trip = percentile(&mut round_trips, 50);
    let medians = rates.map(|mut rates| percentile(&mut rates, 50));
    for (name, median) in LOCKS.iter().zip(medians) {
        let share = median / medians[0];
        println!("{clients:7}  {name:40}  {median:8.0}  {share:8.2}  {round_trip:13.0}");
    }
}

async fn one_turn(stage: &Stage, name: &str, clients: usize) -> f64 {
    let recorder = stage.recorder();
    let mut tasks = JoinSet::new();
    let start = Instant::now();
    for n in 0..clients {
        let mut session = stage.session(&lock(name), n, clients, &recorder);
        let key: Name = format!("lock-{n}").into();
        tasks.spawn(async move {
            let mut cycles = 0_u64;
            while start.elapsed() < TURN {
                let granted = session.acquire(&key, LockRequest::default()).await;
                let released = session.release(&key, LockRequest::default()).await;
                assert_eq!([granted, released], [Reply::Done; 2], "nobody competes");
                cycles += 1;
            }
            cycles
        });
    }
    let mut cycles = 0;
    while let Some(count) = tasks.join_next().await {
        cycles += count.expect("no client panics");
    }
    let rate = cycles as f64 / start.elapsed().as_secs_f64();
    recorder.finish().await.expect("the history is complete");
    rate
}
