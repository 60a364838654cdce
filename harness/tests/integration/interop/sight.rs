//! Each side sees how long and how often the other holds, its tokens and how many permits are left,
//! and is refused what is the other's.

use std::time::Duration;

use lockstorm_checker::history::Mode;
use lockstorm_scenarios::Era;
use tokio::time::timeout;

use super::client::{Client, Side};
use super::kind::Kind;
use super::test_bed::{LONG, TestBed};
use crate::support::WITHIN;

/// A lease that can be told from the other side's, which is the long one.
const SHORTER: Duration = Duration::from_secs(400);
/// A lease that the test waits to see the end of.
const BRIEF: Duration = Duration::from_millis(700);

#[tokio::test(flavor = "multi_thread")]
async fn ours_and_those_of_redisson_4_7_see_what_the_other_has() {
    see_each_other(Era::V4_7).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "an older era; make interop"]
async fn ours_and_those_of_redisson_3_17_see_what_the_other_has() {
    see_each_other(Era::V3_17).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "an older era; make interop"]
async fn ours_and_those_of_redisson_3_10_see_what_the_other_has() {
    see_each_other(Era::V3_10).await;
}

async fn see_each_other(era: Era) {
    let Some(bed) = TestBed::prepare(era).await else {
        return;
    };
    for kind in Kind::of(era) {
        bed.command(&["FLUSHALL"]).await;
        match kind {
            Kind::Semaphore | Kind::Permits => share_permits(&bed, kind).await,
            Kind::Reentrant | Kind::Fair | Kind::ReadWrite | Kind::Fenced => {
                see_ours(&bed, kind).await;
                for sides in Side::PAIRS {
                    see_holds(&bed, kind, sides).await;
                }
            }
        }
        if kind == Kind::Fenced {
            share_tokens(&bed).await;
        }
        // A semaphore has no lease. Who waits for an old fair lock and looks a moment too early is
        // told a negative time, which it takes for no end at all (until 3.32).
        let tells = match kind {
            Kind::Semaphore => false,
            Kind::Fair => era == Era::V4_7,
            Kind::Reentrant | Kind::ReadWrite | Kind::Fenced | Kind::Permits => true,
        };
        if tells {
            for sides in Side::PAIRS {
                see_the_end_of_a_lease(&bed, kind, sides).await;
            }
        }
    }
}

/// Theirs see our hold and its lease, and that it is not their own.
async fn see_ours(bed: &TestBed, kind: Kind) {
    let mut ours = bed.client(Side::Ours, kind, "seen", 1, SHORTER).await;
    let theirs = bed.client(Side::Theirs, kind, "seen", 1, LONG).await;
    let free = theirs.look().await;
    assert_eq!(free["locked"], false, "{kind:?} {free}");
    ours.acquire(Mode::Write).await.expect("it is free");
    let held = theirs.look().await;
    assert_eq!(held["locked"], true, "{kind:?} {held}");
    assert_eq!(held["holds"], 0, "{kind:?} {held}");
    let left = held["ttl_ms"].as_u64().expect("it ends");
    assert!(
        left > 0 && left <= SHORTER.as_millis() as u64,
        "{kind:?} {held}"
    );
    assert!(ours.release(Mode::Write).await);
    let free = theirs.look().await;
    assert_eq!(free["locked"], false, "{kind:?} {free}");
}

/// A lock that one side holds twice is free for the other after two releases, and never by its own.
async fn see_holds(bed: &TestBed, kind: Kind, [holder, other]: [Side; 2]) {
    let what = format!("{kind:?}, held by {holder:?}");
    let mut holder = bed.client(holder, kind, "held", 1, LONG).await;
    let mut other = bed.client(other, kind, "held", 1, LONG).await;
    for mode in kind.modes() {
        holder.acquire(*mode).await.expect("it is free");
        holder.acquire(*mode).await.expect("it is its own");
        for _ in 0..2 {
            let released = other.release(*mode).await;
            assert!(!released, "{what}: the other cannot release it");
            let granted = other.acquire(Mode::Write).await;
            assert_eq!(granted, None, "{what}: the other is refused");
            assert!(holder.release(*mode).await, "{what}");
        }
        let granted = other.acquire(Mode::Write).await;
        assert!(granted.is_some(), "{what}: it is free after two releases");
        assert!(
            !holder.release(*mode).await,
            "{what}: it is the other's now"
        );
        assert!(other.release(Mode::Write).await, "{what}");
    }
    if kind == Kind::ReadWrite {
        share_reading([&mut holder, &mut other], &what).await;
    }
}

/// Readers of both sides hold at once, and a writer waits for the last of them.
async fn share_reading([one, other]: [&mut Client; 2], what: &str) {
    one.acquire(Mode::Read).await.expect("it is free");
    other.acquire(Mode::Read).await.expect("readers share it");
    assert!(one.release(Mode::Read).await, "{what}");
    let granted = one.acquire(Mode::Write).await;
    assert_eq!(granted, None, "{what}: the other reads still");
    assert!(other.release(Mode::Read).await, "{what}");
    one.acquire(Mode::Write).await.expect("nobody reads");
    let granted = other.acquire(Mode::Read).await;
    assert_eq!(granted, None, "{what}: one writes");
    assert!(one.release(Mode::Write).await, "{what}");
}

/// Tokens are drawn from one counter, and theirs see ours.
async fn share_tokens(bed: &TestBed) {
    let mut ours = bed
        .client(Side::Ours, Kind::Fenced, "tokens", 1, LONG)
        .await;
    let mut theirs = bed
        .client(Side::Theirs, Kind::Fenced, "tokens", 1, LONG)
        .await;
    let mut last = 0;
    for _ in 0..3 {
        let granted = ours.acquire(Mode::Write).await.expect("it is free");
        assert_eq!(granted.token, Some(last + 1));
        let seen = theirs.look().await;
        assert_eq!(seen["token"].as_u64(), granted.token, "{seen}");
        assert!(ours.release(Mode::Write).await);
        let granted = theirs.acquire(Mode::Write).await.expect("it is free");
        assert_eq!(granted.token, Some(last + 2));
        assert!(theirs.release(Mode::Write).await);
        last += 2;
    }
}

/// Permits come from one stock, and go back to it.
async fn share_permits(bed: &TestBed, kind: Kind) {
    let mut ours = bed.client(Side::Ours, kind, "stock", 2, LONG).await;
    let mut theirs = bed.client(Side::Theirs, kind, "stock", 2, LONG).await;
    ours.acquire(Mode::Write).await.expect("two are free");
    assert_eq!(theirs.look().await["free"], 1, "{kind:?}");
    theirs.acquire(Mode::Write).await.expect("one is free");
    assert_eq!(theirs.look().await["free"], 0, "{kind:?}");
    assert_eq!(ours.acquire(Mode::Write).await, None, "{kind:?}");
    assert_eq!(theirs.acquire(Mode::Write).await, None, "{kind:?}");
    assert!(theirs.release(Mode::Write).await, "{kind:?}");
    ours.acquire(Mode::Write).await.expect("it was given back");
    assert!(ours.release(Mode::Write).await, "{kind:?}");
    assert!(ours.release(Mode::Write).await, "{kind:?}");
    assert_eq!(theirs.look().await["free"], 2, "{kind:?}");
}

/// A hold that is never released ends with its lease, and who waits on the other side knows when:
/// nobody tells it.
async fn see_the_end_of_a_lease(bed: &TestBed, kind: Kind, [holder, waiter]: [Side; 2]) {
    let what = format!("{kind:?}, {waiter:?} waits for the lease of {holder:?} to end");
    let mut holder = bed.client(holder, kind, "brief", 1, BRIEF).await;
    let mut waiter = bed.client(waiter, kind, "brief", 1, LONG).await;
    holder.acquire(Mode::Write).await.expect("it is free");
    let granted = timeout(WITHIN, waiter.acquire_within(Mode::Write, LONG)).await;
    let granted = granted.unwrap_or_else(|_| panic!("{what}: in vain"));
    assert!(granted.is_some(), "{what}");
    if kind != Kind::Fair {
        assert!(
            !holder.release(Mode::Write).await,
            "{what}: it is the other's now"
        );
    }
    assert!(waiter.release(Mode::Write).await, "{what}");
}
