//! A real Redis Cluster: up, whole, and failing over by itself.

use std::time::Duration;

use crate::support::test_bed::TestBed;
use crate::support::{WITHIN, have_server};
use lockstorm_harness::connection::slot_of;
use lockstorm_nemesis::Deployment as _;
use lockstorm_scenarios::{
    Cluster, DurationSpec, Failover, FailoverMode, FaultSpec, Kill, MigrateSlot, Persistence,
    Topology, Way,
};
use tokio::time::{Instant, sleep};

/// Pause between two looks at an awaited condition.
const POLL: Duration = Duration::from_millis(20);

async fn cluster(fabric: bool) -> TestBed {
    let topology = Topology::Cluster(Cluster {
        shards: 3,
        replicas: 1,
        persistence: Persistence::None,
        node_timeout: DurationSpec::from_millis(500),
        min_replicas_to_write: 0,
        min_replicas_max_lag: DurationSpec::from_secs(10),
    });
    TestBed::new(topology, fabric).await
}

/// Waits until these nodes take writes.
async fn until_led_by(bed: &TestBed, nodes: &[&str]) {
    let deadline = Instant::now() + WITHIN;
    loop {
        let writable = bed.servers.writable().await;
        if writable == nodes {
            return;
        }
        assert!(Instant::now() < deadline, "still led by {writable:?}");
        sleep(POLL).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_is_whole_from_the_start_and_agrees_with_us_on_slots() {
    if !have_server() {
        return;
    }
    let bed = cluster(false).await;
    assert_eq!(
        bed.servers.writable().await,
        ["shard-1", "shard-2", "shard-3"]
    );
    for key in [
        "lock",
        "{lock}:token",
        "redisson_lock__channel:{lock-0}",
        "a{}b",
        "{{x}y}",
    ] {
        let asked = bed
            .servers
            .command("shard-2", &["CLUSTER", "KEYSLOT", key])
            .await;
        let slot = asked.expect("it knows its slots");
        assert_eq!(slot, slot_of(key.as_bytes()).to_string(), "{key}");
        let keepers = bed.servers.keepers(key).await;
        let written = bed.servers.command(&keepers[0], &["SET", key, "x"]).await;
        assert_eq!(written.expect("its keeper takes it"), "OK");
    }
}

/// The cluster bus passes the fabric here, so this is also the proof that it can be faulted.
#[tokio::test(flavor = "multi_thread")]
async fn a_replica_takes_the_place_of_a_dead_master_which_comes_back_as_its_replica() {
    if !have_server() {
        return;
    }
    let mut bed = cluster(true).await;
    let kill = FaultSpec::Kill(Kill {
        node: "shard-1".to_owned(),
    });
    let id = bed.nemesis.inject(&kill).await;
    let id = id.expect("it is killed, and that is observed");
    let after = ["shard-2", "shard-3", "shard-1-replica-1"];
    until_led_by(&bed, &after).await;
    let healed = bed.nemesis.heal_id(&id).await;
    healed.expect("it starts again");
    let deadline = Instant::now() + WITHIN;
    loop {
        let role = bed.servers.command("shard-1", &["ROLE"]).await;
        if role.as_deref().is_ok_and(|role| role.starts_with("slave")) {
            break;
        }
        assert!(Instant::now() < deadline, "still {role:?}");
        sleep(POLL).await;
    }
    assert_eq!(bed.servers.writable().await, after);
}

/// The other master of each shard takes over in turn, by each way of doing so.
#[tokio::test(flavor = "multi_thread")]
async fn a_replica_takes_over_in_agreement_by_vote_and_by_itself() {
    if !have_server() {
        return;
    }
    let mut bed = cluster(false).await;
    let modes = [
        ("shard-1", FailoverMode::Agreed),
        ("shard-2", FailoverMode::Force),
        ("shard-3", FailoverMode::Takeover),
    ];
    for (shard, mode) in modes {
        let node = format!("{shard}-replica-1");
        let failover = FaultSpec::Failover(Failover {
            node: node.clone(),
            mode,
        });
        let done = bed.nemesis.inject(&failover).await;
        done.expect("it takes over, and that is observed");
        let role = bed.servers.command(&node, &["ROLE"]).await;
        assert!(role.expect("it answers").starts_with("master"), "{mode:?}");
        let writable = bed.servers.writable().await;
        assert!(
            !writable.contains(&shard.to_owned()),
            "{mode:?}: {writable:?}"
        );
    }
}

/// Tells whether a text has the word, however it is written.
fn says(text: &impl ToString, word: &str) -> bool {
    text.to_string().to_lowercase().contains(word)
}

fn migration(to: Option<&str>, until: Way) -> FaultSpec {
    FaultSpec::MigrateSlot(MigrateSlot {
        key: "lock".to_owned(),
        to: to.map(str::to_owned),
        until,
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slot_moves_with_its_keys_and_the_time_that_they_have_left() {
    if !have_server() {
        return;
    }
    let mut bed = cluster(true).await;
    let old = bed.servers.keepers("lock").await.remove(0);
    let all = bed.servers.writable().await;
    let new = all
        .iter()
        .find(|node| **node != old)
        .expect("there are three");
    let set = ["SET", "lock", "x", "PX", "60000"];
    bed.servers.command(&old, &set).await.expect("it takes it");
    let moved = bed.nemesis.inject(&migration(Some(new), Way::Done)).await;
    moved.expect("it moves, and that is observed");
    assert_eq!(bed.servers.keepers("lock").await, [new.as_str()]);
    let left = bed.servers.command(new, &["PTTL", "lock"]).await;
    let left: i64 = left.expect("it has it").parse().expect("a number");
    assert!((1..=60_000).contains(&left), "{left}");
    let moved = bed.servers.command(&old, &["GET", "lock"]).await;
    assert!(says(&moved.expect_err("it is elsewhere"), "moved"));
    let again = bed.nemesis.inject(&migration(Some(new), Way::Done)).await;
    assert!(
        again
            .expect_err("it is there")
            .to_string()
            .contains("has the slot already")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slot_that_is_left_half_way_comes_to_its_end_when_healed() {
    if !have_server() {
        return;
    }
    let mut bed = cluster(false).await;
    let old = bed.servers.keepers("lock").await.remove(0);
    let asked = async |bed: &TestBed| {
        let reply = bed.servers.command(&old, &["GET", "lock"]).await;
        reply.unwrap_or_else(|error| error.to_string())
    };
    bed.servers
        .command(&old, &["SET", "lock", "x"])
        .await
        .expect("it takes it");
    let opened = bed.nemesis.inject(&migration(None, Way::Open)).await;
    let opened = opened.expect("it begins to move, and that is observed");
    assert_eq!(asked(&bed).await, "x", "the key is where it was");
    bed.nemesis
        .heal_id(&opened)
        .await
        .expect("it goes all the way");
    assert!(says(&asked(&bed).await, "moved"));
    // And back, half-way: its keys have gone, and it has not.
    let new = bed.servers.keepers("lock").await.remove(0);
    let carried = bed.nemesis.inject(&migration(Some(&old), Way::Keys)).await;
    carried.expect("its keys move, and that is observed");
    let asked = bed.servers.command(&new, &["GET", "lock"]).await;
    assert!(says(&asked.expect_err("it has gone ahead"), "ask"));
    assert_eq!(bed.servers.keepers("lock").await, [new]);
    assert!(bed.nemesis.heal_all().await.is_empty());
    assert_eq!(bed.servers.keepers("lock").await, [old]);
}
