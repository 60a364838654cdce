//! A real Redis Cluster: up, whole, and failing over by itself.

mod support;

use std::time::Duration;

use lockstorm_harness::slot::slot_of;
use lockstorm_nemesis::Deployment as _;
use lockstorm_scenarios::{Cluster, FaultSpec, Kill, Persistence, Span, Topology};
use support::ground::Ground;
use support::{WITHIN, have_server};
use tokio::time::{Instant, sleep};

/// Pause between two looks at an awaited condition.
const POLL: Duration = Duration::from_millis(20);

async fn cluster(fabric: bool) -> Ground {
    let topology = Topology::Cluster(Cluster {
        shards: 3,
        replicas: 1,
        persistence: Persistence::None,
        node_timeout: Span::from_millis(500),
        min_replicas_to_write: 0,
    });
    Ground::new(topology, fabric).await
}

/// Waits until these nodes take writes.
async fn until_led_by(ground: &Ground, nodes: &[&str]) {
    let deadline = Instant::now() + WITHIN;
    loop {
        let writable = ground.servers.writable().await;
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
    let ground = cluster(false).await;
    assert_eq!(
        ground.servers.writable().await,
        ["shard-1", "shard-2", "shard-3"]
    );
    for key in [
        "lock",
        "{lock}:token",
        "redisson_lock__channel:{lock-0}",
        "a{}b",
        "{{x}y}",
    ] {
        let asked = ground
            .servers
            .command("shard-2", &["CLUSTER", "KEYSLOT", key])
            .await;
        let slot = asked.expect("it knows its slots");
        assert_eq!(slot, slot_of(key.as_bytes()).to_string(), "{key}");
        let keepers = ground.servers.keepers(key).await;
        let written = ground
            .servers
            .command(&keepers[0], &["SET", key, "x"])
            .await;
        assert_eq!(written.expect("its keeper takes it"), "OK");
    }
}

/// The cluster bus passes the fabric here, so this is also the proof that it can be faulted.
#[tokio::test(flavor = "multi_thread")]
async fn a_replica_takes_the_place_of_a_dead_master_which_comes_back_as_its_replica() {
    if !have_server() {
        return;
    }
    let mut ground = cluster(true).await;
    let kill = FaultSpec::Kill(Kill {
        node: "shard-1".to_owned(),
    });
    let id = ground.nemesis.inject(&kill).await;
    let id = id.expect("it is killed, and that is observed");
    let after = ["shard-2", "shard-3", "shard-1-replica-1"];
    until_led_by(&ground, &after).await;
    let healed = ground.nemesis.heal_id(&id).await;
    healed.expect("it starts again");
    let deadline = Instant::now() + WITHIN;
    loop {
        let role = ground.servers.command("shard-1", &["ROLE"]).await;
        if role.as_deref().is_ok_and(|role| role.starts_with("slave")) {
            break;
        }
        assert!(Instant::now() < deadline, "still {role:?}");
        sleep(POLL).await;
    }
    assert_eq!(ground.servers.writable().await, after);
}
