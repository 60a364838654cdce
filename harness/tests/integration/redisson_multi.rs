//! Redisson's `MultiLock` and `RedLock` against real servers: what a caller is told, and what is
//! left on the masters, in each era.

use std::time::Duration;

use crate::support::have_server;
use crate::support::test_bed::TestBed;
use lockstorm_harness::locks::{Lock as _, LockRequest, Outcome};
use lockstorm_nemesis::Deployment as _;
use lockstorm_scenarios::{Independent, Persistence, Topology};
use tokio::time::Instant;

/// The key of every test.
const KEY: &str = "lock";

async fn three_masters() -> TestBed {
    let independent = Independent {
        nodes: 3,
        replicas: 0,
        persistence: Persistence::default(),
    };
    TestBed::new(Topology::Independent(independent), false).await
}

/// Number of keys that each of the masters has.
async fn keys(bed: &TestBed) -> [String; 3] {
    let count = async |node| {
        let reply = bed.servers.command(node, &["DBSIZE"]).await;
        reply.expect("it answers")
    };
    [count("n1").await, count("n2").await, count("n3").await]
}

async fn forget(bed: &TestBed, node: &str) {
    let reply = bed.servers.command(node, &["FLUSHALL"]).await;
    reply.expect("it answers");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unlock_of_multi_lock_stops_half_way_in_the_newest_era_only() {
    if !have_server() {
        return;
    }
    let bed = three_masters().await;
    for (n, (era, left)) in [("3.10", "0"), ("3.17", "0"), ("4.7", "1")]
        .iter()
        .enumerate()
    {
        let lock = format!("redisson-multi = {{ era = \"{era}\" }}");
        let mut client = bed.client(n, &lock);
        let acquired = client.acquire(KEY, LockRequest::default()).await;
        assert!(matches!(acquired, Outcome::Done(_)), "{era}: {acquired:?}");
        forget(&bed, "n1").await;
        let released = client.release(KEY, LockRequest::default()).await;
        assert_eq!(released, Outcome::Denied, "{era}");
        assert_eq!(keys(&bed).await, ["0", left, left], "{era}");
        for node in ["n2", "n3"] {
            forget(&bed, node).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unlock_of_red_lock_never_says_that_it_was_lost() {
    if !have_server() {
        return;
    }
    let bed = three_masters().await;
    for (n, era) in ["3.10", "3.17", "4.7"].iter().enumerate() {
        let mut client = bed.client(n, &format!("redisson-red = {{ era = \"{era}\" }}"));
        let acquired = client.acquire(KEY, LockRequest::default()).await;
        assert!(matches!(acquired, Outcome::Done(_)), "{era}: {acquired:?}");
        for node in ["n1", "n2"] {
            forget(&bed, node).await;
        }
        let released = client.release(KEY, LockRequest::default()).await;
        assert!(matches!(released, Outcome::Done(_)), "{era}: {released:?}");
        assert_eq!(keys(&bed).await, ["0", "0", "0"], "{era}");
    }
}

/// Its watchdogs keep what it has while it tries the dead master: the lease of two seconds is over
/// long before.
#[tokio::test(flavor = "multi_thread")]
async fn a_dead_master_is_tried_for_seconds_and_then_counts_as_a_refusal() {
    if !have_server() {
        return;
    }
    let bed = three_masters().await;
    bed.servers.kill("n3").await.expect("it dies");
    let tried = async |n, lock: &str| {
        let begun = Instant::now();
        let mut client = bed.client(n, lock);
        let acquired = client.acquire(KEY, LockRequest::default()).await;
        (acquired, begun.elapsed())
    };
    let (multi, multi_took) = tried(0, "redisson-multi = { watchdog = \"2s\" }").await;
    assert_eq!(multi, Outcome::Denied, "it wants all");
    let (red, red_took) = tried(1, "redisson-red = { watchdog = \"2s\" }").await;
    let Outcome::Done(grant) = red else {
        panic!("two of three are enough: {red:?}");
    };
    for took in [multi_took, red_took] {
        // Half a second and three times one, at least.
        assert!(took >= Duration::from_millis(3_500), "{took:?}");
    }
    assert!(grant.waited < red_took, "{grant:?} after {red_took:?}");
    assert!(
        grant.waited >= red_took.saturating_sub(Duration::from_secs(2)),
        "its masters were asked to keep it within the last lease: {grant:?} after {red_took:?}"
    );
}

/// Twice a wait that is not there.
#[tokio::test(flavor = "multi_thread")]
async fn a_lease_without_a_wait_is_taken_for_nothing_by_3_10_only() {
    if !have_server() {
        return;
    }
    let bed = three_masters().await;
    for (n, (era, second)) in [("3.10", true), ("3.17", false), ("4.7", false)]
        .iter()
        .enumerate()
    {
        let lock = format!("redisson-multi = {{ lease = \"20s\", era = \"{era}\" }}");
        let mut first = bed.client(2 * n, &lock);
        let acquired = first.acquire(KEY, LockRequest::default()).await;
        assert!(matches!(acquired, Outcome::Done(_)), "{era}: {acquired:?}");
        let also = bed
            .client(2 * n + 1, &lock)
            .acquire(KEY, LockRequest::default())
            .await;
        assert_eq!(matches!(also, Outcome::Done(_)), *second, "{era}: {also:?}");
        first.release(KEY, LockRequest::default()).await;
    }
}
