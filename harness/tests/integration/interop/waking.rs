//! A client that waits on one side is woken by the release of the other.
//!
//! That it is woken, and does not look by itself, is proved by what it sends: it asks twice, the
//! second time because it subscribed in between, then no more until the release, and then once.

use lockstorm_checker::history::Mode;
use lockstorm_scenarios::Era;
use redis::Value;
use tokio::time::{Instant, sleep, timeout};

use super::client::Side;
use super::kind::Kind;
use super::test_bed::{LONG, POLL, TestBed, text};
use crate::support::WITHIN;

/// How often whoever waits asks before it waits to be told.
const TRIES: u64 = 2;
/// How often those that lose wake-ups may wait in vain.
const GOES: u32 = 3;

#[tokio::test(flavor = "multi_thread")]
async fn ours_and_those_of_redisson_4_7_wake_each_other() {
    wake_each_other(Era::V4_7).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "an older era; make interop"]
async fn ours_and_those_of_redisson_3_17_wake_each_other() {
    wake_each_other(Era::V3_17).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "an older era; make interop"]
async fn ours_and_those_of_redisson_3_10_wake_each_other() {
    wake_each_other(Era::V3_10).await;
}

async fn wake_each_other(era: Era) {
    let Some(bed) = TestBed::prepare(era).await else {
        return;
    };
    for kind in Kind::of(era) {
        for [holder, waiter] in Side::PAIRS {
            for mode in kind.modes() {
                let what = format!("{kind:?}, {waiter:?} waits for {holder:?} to end {mode:?}");
                let faithful = waiter == Side::Ours || kind.wakes_all(era);
                let goes = if faithful { 1 } else { GOES };
                let mut woken = false;
                for go in 0..goes {
                    let name = format!("turn-{kind:?}-{holder:?}-{mode:?}-{go}");
                    woken = wake(&bed, kind, [holder, waiter], *mode, &name).await;
                    if woken {
                        break;
                    }
                }
                assert!(woken, "{what}: it was not woken");
            }
        }
    }
}

/// `holder` holds and releases, in the mode; `waiter` waits for all of the lock. Whether it was
/// woken.
async fn wake(
    bed: &TestBed,
    kind: Kind,
    [holder, waiter]: [Side; 2],
    mode: Mode,
    name: &str,
) -> bool {
    let mut holder = bed.client(holder, kind, name, 1, LONG).await;
    let mut waiter = bed.client(waiter, kind, name, 1, LONG).await;
    holder.acquire(mode).await.expect("the lock is free");
    let refused = waiter.acquire(Mode::Write).await;
    assert_eq!(refused, None, "{name}");
    let before = scripts(bed).await;
    let waiting = tokio::spawn(async move {
        let granted = waiter.acquire_within(Mode::Write, LONG).await;
        (waiter, granted)
    });
    let deadline = Instant::now() + WITHIN;
    while !is_heard(bed, name).await || scripts(bed).await < before + TRIES {
        assert!(Instant::now() < deadline, "{name}: nobody came to wait");
        sleep(POLL).await;
    }
    assert!(holder.release(mode).await, "{name}");
    let Ok(woken) = timeout(WITHIN, waiting).await else {
        return false;
    };
    let (mut waiter, granted) = woken.expect("no client panics");
    assert!(granted.is_some(), "{name}");
    // One that released, one that asked.
    assert_eq!(scripts(bed).await, before + TRIES + 2, "{name}");
    assert!(waiter.release(Mode::Write).await, "{name}");
    let deadline = Instant::now() + WITHIN;
    while is_heard(bed, name).await {
        assert!(Instant::now() < deadline, "{name}: somebody listens still");
        sleep(POLL).await;
    }
    true
}

/// Tells whether anybody listens to a channel of the lock.
async fn is_heard(bed: &TestBed, name: &str) -> bool {
    let pattern = format!("*{name}*");
    match bed.command(&["PUBSUB", "CHANNELS", &pattern]).await {
        Value::Array(channels) => !channels.is_empty(),
        odd => panic!("channels come in a list: {odd:?}"),
    }
}

/// Number of scripts that the server has run. Those that it did not know by their digest do not
/// count: they come again with their text.
async fn scripts(bed: &TestBed) -> u64 {
    let info = text(&bed.command(&["INFO", "commandstats"]).await);
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
