//! Whoever waits on one side is woken by the release of the other.
//!
//! That it is woken, and does not look by itself, is proved by what it sends: it asks twice, the
//! second time because it subscribed in between, then no more until the release, and then once.

use lockstorm_checker::history::Mode;
use lockstorm_scenarios::Era;
use redis::Value;
use tokio::time::{Instant, sleep, timeout};

use super::client::Side;
use super::ground::{Ground, LONG, POLL, text};
use super::kind::Kind;
use super::support::WITHIN;

/// How often whoever waits asks before it waits to be told.
const TRIES: u64 = 2;

#[tokio::test(flavor = "multi_thread")]
async fn ours_and_those_of_redisson_4_7_wake_each_other() {
    wake_each_other(Era::V4_7).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ours_and_those_of_redisson_3_17_wake_each_other() {
    wake_each_other(Era::V3_17).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ours_and_those_of_redisson_3_10_wake_each_other() {
    wake_each_other(Era::V3_10).await;
}

async fn wake_each_other(era: Era) {
    let Some(ground) = Ground::prepare(era).await else {
        return;
    };
    for kind in Kind::of(era) {
        for [holder, waiter] in Side::PAIRS {
            ground.command(&["FLUSHALL"]).await;
            for mode in kind.modes() {
                wake(&ground, kind, [holder, waiter], *mode).await;
            }
        }
    }
}

/// `holder` holds and releases, in the mode; `waiter` waits for all of the lock.
async fn wake(ground: &Ground, kind: Kind, [holder, waiter]: [Side; 2], mode: Mode) {
    let what = format!("{kind:?}, {waiter:?} waits for {holder:?} to end {mode:?}");
    let mut holder = ground.client(holder, kind, "turn", 1, LONG).await;
    let mut waiter = ground.client(waiter, kind, "turn", 1, LONG).await;
    holder.acquire(mode).await.expect("the lock is free");
    let refused = waiter.acquire(Mode::Write).await;
    assert_eq!(refused, None, "{what}");
    let before = scripts(ground).await;
    let waiting = tokio::spawn(async move {
        let granted = waiter.acquire_within(Mode::Write, LONG).await;
        (waiter, granted)
    });
    let deadline = Instant::now() + WITHIN;
    while !is_heard(ground).await || scripts(ground).await < before + TRIES {
        assert!(Instant::now() < deadline, "{what}: it never came to wait");
        sleep(POLL).await;
    }
    assert!(holder.release(mode).await, "{what}");
    let woken = timeout(WITHIN, waiting).await;
    let (mut waiter, granted) = woken
        .unwrap_or_else(|_| panic!("{what}: it was not woken"))
        .expect("no client panics");
    assert!(granted.is_some(), "{what}");
    // One that released, one that asked.
    assert_eq!(scripts(ground).await, before + TRIES + 2, "{what}");
    assert!(waiter.release(Mode::Write).await, "{what}");
    let deadline = Instant::now() + WITHIN;
    while is_heard(ground).await {
        assert!(Instant::now() < deadline, "{what}: it listens for ever");
        sleep(POLL).await;
    }
}

/// Whether anybody listens to a channel.
async fn is_heard(ground: &Ground) -> bool {
    match ground.command(&["PUBSUB", "CHANNELS"]).await {
        Value::Array(channels) => !channels.is_empty(),
        odd => panic!("channels come in a list: {odd:?}"),
    }
}

/// How many scripts the server has run. Those that it did not know by their digest do not count:
/// they come again with their text.
async fn scripts(ground: &Ground) -> u64 {
    let info = text(&ground.command(&["INFO", "commandstats"]).await);
    let of = |line: &str, field: &str| -> u64 {
        let value = line.split(field).nth(1).expect("the field is there");
        let digits = value.split(',').next().unwrap_or_default();
        digits.trim().parse().expect("it is a number")
    };
    info.lines()
        .filter(|line| line.starts_with("cmdstat_eval:") || line.starts_with("cmdstat_evalsha:"))
        .map(|line| of(line, "calls=") - of(line, "failed_calls="))
        .sum()
}
