//! Clients of a real Redis Cluster: they find each key's shard, follow it when it moves, and tell
//! of every turn.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::test_bed::{TestBed, spec};
use crate::support::{WITHIN, have_server};
use async_trait::async_trait;
use lockstorm_checker::history::{FailureNote, RouteNote};
use lockstorm_harness::client::AnyLock;
use lockstorm_harness::connection::{CallError, Shards, Trail, slot_of};
use lockstorm_harness::locks::{BatchRenewal as _, Lock as _, LockRequest, Outcome, Waiting as _};
use lockstorm_nemesis::Deployment as _;
use lockstorm_scenarios::{
    Cluster, DurationSpec, Failover, FailoverMode, FaultSpec, MigrateSlot, Persistence, Topology,
    Way,
};
use tokio::time::{Instant, timeout};

async fn cluster() -> TestBed {
    let topology = Topology::Cluster(Cluster {
        shards: 3,
        replicas: 1,
        persistence: Persistence::None,
        node_timeout: DurationSpec::from_millis(500),
        min_replicas_to_write: 0,
        min_replicas_max_lag: DurationSpec::from_secs(10),
    });
    TestBed::new(topology, false).await
}

/// Keeps where a client went, and why.
#[derive(Default)]
struct Turns(Mutex<Vec<RouteNote>>);

#[async_trait]
impl Trail for Turns {
    async fn routed(&self, note: RouteNote) {
        self.0.lock().expect("no test panics with it").push(note);
    }

    async fn failed(&self, note: FailureNote) {
        panic!("no client fails here: {note:?}");
    }
}

impl Turns {
    /// The turns since the last look, as `from→to: why`.
    fn take(&self) -> Vec<String> {
        let mut turns = self.0.lock().expect("no test panics with it");
        let text = |note: RouteNote| {
            let from = note.from.as_deref().unwrap_or("nowhere").to_owned();
            format!("{from}→{}: {}", note.to, note.why)
        };
        turns.drain(..).map(text).collect()
    }
}

/// A client, and what it tells of its turns.
fn client(bed: &TestBed, n: usize, lock: &str) -> (AnyLock, Arc<Turns>) {
    let turns = Arc::new(Turns::default());
    let context = bed.context_with(n, turns.clone());
    let lock = AnyLock::new(&spec(lock), context).expect("it is one of ours");
    (lock, turns)
}

fn is_done<T>(outcome: &Outcome<T>) -> bool {
    matches!(outcome, Outcome::Done(_))
}

/// Keys of each shard, in the order of the shards.
const KEYS: [&str; 3] = ["lock-0", "lock-1", "lock-3"];

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_is_found_in_its_shard_and_after_a_failover_by_the_servers_own_word() {
    if !have_server() {
        return;
    }
    let mut bed = cluster().await;
    let (mut lock, turns) = client(&bed, 0, "token = {}");
    assert!(is_done(&lock.acquire("lock", LockRequest::default()).await));
    let old = bed.servers.keepers("lock").await.remove(0);
    let found = [
        format!("nowhere→{old}: first use; shard-1 names it"),
        format!("nowhere→{old}: first use"),
    ];
    assert_eq!(turns.take(), found);
    let new = format!("{old}-replica-1");
    let failover = FaultSpec::Failover(Failover {
        node: new.clone(),
        mode: FailoverMode::Agreed,
    });
    bed.nemesis.inject(&failover).await.expect("it takes over");
    // An old master says so by itself, once it is a replica.
    assert!(is_done(&lock.release("lock", LockRequest::default()).await));
    let followed = [
        format!("{old}→{new}: MOVED by {old}; it tells who leads what"),
        format!("nowhere→{new}: first use"),
    ];
    assert_eq!(turns.take(), followed);
    assert!(is_done(&lock.acquire("lock", LockRequest::default()).await));
    assert_eq!(turns.take(), Vec::<String>::new(), "it knows now");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_has_gone_ahead_is_asked_for_once_and_each_time_anew() {
    if !have_server() {
        return;
    }
    let mut bed = cluster().await;
    let (mut lock, turns) = client(&bed, 0, "token = {}");
    assert!(is_done(&lock.acquire("lock", LockRequest::default()).await));
    let old = bed.servers.keepers("lock").await.remove(0);
    let migration = FaultSpec::MigrateSlot(MigrateSlot {
        key: "lock".to_owned(),
        to: None,
        until: Way::Keys,
    });
    bed.nemesis.inject(&migration).await.expect("its keys move");
    turns.take();
    for _ in 0..2 {
        assert!(is_done(&lock.renew("lock", LockRequest::default()).await));
        let asked = turns.take();
        assert!(asked[0].ends_with(&format!("ASK by {old}")), "{asked:?}");
    }
    assert!(is_done(&lock.release("lock", LockRequest::default()).await));
    assert!(bed.nemesis.heal_all().await.is_empty());
    turns.take();
    assert!(is_done(&lock.acquire("lock", LockRequest::default()).await));
    let moved = turns.take();
    assert!(moved[0].contains(&format!("MOVED by {old}")), "{moved:?}");
}

/// A script whose keys have no common braces is refused, and had no effect.
#[tokio::test(flavor = "multi_thread")]
async fn a_script_with_keys_of_several_slots_is_refused() {
    if !have_server() {
        return;
    }
    let bed = cluster().await;
    let servers = bed.servers.nodes().iter();
    let servers = servers
        .map(|node| (node.name.clone(), node.public))
        .collect();
    let mut shards = Shards::new(bed.context(0).dialer, servers);
    let mut script = redis::cmd("EVAL");
    script
        .arg("return redis.call('SET', KEYS[1], KEYS[2])")
        .arg(2)
        .arg("lock")
        .arg("lock:token");
    let replies = shards.call(&[&script], &script).await;
    let replies = replies.expect("the server answers");
    let [Err(CallError::Failed(text))] = replies.as_slice() else {
        panic!("an error was due: {replies:?}");
    };
    assert!(text.contains("CROSSSLOT"), "{text}");
}

/// While a shard has nobody, no server takes anything; it says so and does nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_is_down_refuses_and_is_found_again_when_it_is_whole() {
    if !have_server() {
        return;
    }
    let mut bed = cluster().await;
    let (mut lock, _) = client(&bed, 0, "token = {}");
    assert!(is_done(&lock.acquire("lock", LockRequest::default()).await));
    let keeper = bed.servers.keepers("lock").await.remove(0);
    let other = if keeper == "shard-1" {
        "shard-2"
    } else {
        "shard-1"
    };
    for node in [format!("{other}-replica-1"), other.to_owned()] {
        let kill = FaultSpec::Kill(lockstorm_scenarios::Kill { node });
        bed.nemesis.inject(&kill).await.expect("it dies");
    }
    let deadline = Instant::now() + WITHIN;
    loop {
        let renewed = lock.renew("lock", LockRequest::default()).await;
        if matches!(&renewed, Outcome::Failed(text) if text.starts_with("CLUSTERDOWN")) {
            break;
        }
        assert!(Instant::now() < deadline, "still {renewed:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(bed.nemesis.heal_all().await.is_empty());
    loop {
        let acquired = lock.acquire("lock", LockRequest::default()).await;
        if is_done(&acquired) {
            return;
        }
        assert!(Instant::now() < deadline, "still {acquired:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Publishing reaches the whole Cluster in an old Redisson, and in a new one only the shard, where
/// its clients listen.
#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_client_of_redisson_is_woken_in_every_shard_and_era() {
    if !have_server() {
        return;
    }
    let bed = cluster().await;
    let keepers = async |key| bed.servers.keepers(key).await.remove(0);
    for (n, key) in KEYS.into_iter().enumerate() {
        assert_eq!(keepers(key).await, format!("shard-{}", n + 1));
        for era in ["3.17", "4.7"] {
            // Nobody would come to look again before the lease is over.
            let lock = format!("redisson = {{ lease = \"300s\", era = \"{era}\" }}");
            let (mut holder, _) = client(&bed, 0, &lock);
            let (mut waiter, _) = client(&bed, 1, &lock);
            assert!(is_done(&holder.acquire(key, LockRequest::default()).await));
            let waiting = async {
                loop {
                    match waiter.acquire(key, LockRequest::default()).await {
                        Outcome::Denied => {}
                        outcome => return outcome,
                    }
                    let end = Instant::now() + 2 * WITHIN;
                    waiter.await_turn(key, 2 * WITHIN, end).await;
                }
            };
            let releasing = async {
                // Whoever waits has subscribed by the time that the server counts it.
                let count = if era == "4.7" {
                    "SHARDNUMSUB"
                } else {
                    "NUMSUB"
                };
                let channel = format!("redisson_lock__channel:{{{key}}}");
                let asked = ["PUBSUB", count, &channel];
                let shard = keepers(key).await;
                let deadline = Instant::now() + WITHIN;
                while !bed
                    .servers
                    .command(&shard, &asked)
                    .await
                    .expect("it answers")
                    .ends_with('1')
                {
                    assert!(Instant::now() < deadline, "nobody subscribes");
                }
                holder.release(key, LockRequest::default()).await
            };
            let both = async { tokio::join!(waiting, releasing) };
            let (granted, released) = timeout(WITHIN, both).await.expect("it is woken");
            assert!(
                is_done(&granted) && is_done(&released),
                "{era}: {granted:?}"
            );
            assert!(is_done(&waiter.release(key, LockRequest::default()).await));
        }
    }
}

/// One round of the watchdog is one script for each slot, for no script may name keys of several.
#[tokio::test(flavor = "multi_thread")]
async fn locks_of_all_shards_are_renewed_in_one_round() {
    if !have_server() {
        return;
    }
    let bed = cluster().await;
    let (mut lock, _) = client(&bed, 0, "redisson = {}");
    let mut leases = Vec::new();
    for key in KEYS {
        assert!(is_done(&lock.acquire(key, LockRequest::default()).await));
        leases.push((key.into(), LockRequest::default()));
    }
    leases.push(("nobody's".into(), LockRequest::default()));
    let outcomes = lock.renew_batch(&leases).await;
    assert!(outcomes[..3].iter().all(is_done), "{outcomes:?}");
    assert!(matches!(outcomes[3], Outcome::Denied), "{outcomes:?}");
}

#[test]
fn the_keys_of_these_tests_are_spread_over_the_shards() {
    let shard = |key: &str| u32::from(slot_of(key.as_bytes())) * 3 / 16_384;
    assert_eq!(KEYS.map(shard), [0, 1, 2]);
}
