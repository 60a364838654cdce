//! Real members that elect a leader, of etcd and of ZooKeeper: up, broken by every fault that means
//! something to them, and gone.

/// Tests of members of each system, by the names of functions that take one.
macro_rules! on_each_system {
    ($($test:ident),* $(,)?) => {
        mod on_etcd {
            $(#[tokio::test]
            async fn $test() {
                super::$test(lockstorm_scenarios::System::Etcd).await;
            })*
        }

        mod on_zookeeper {
            $(#[tokio::test]
            async fn $test() {
                super::$test(lockstorm_scenarios::System::Zookeeper).await;
            })*
        }
    };
}

mod lock_request;
mod mutex;

use std::time::Duration;

use crate::support::test_bed::TestBed;
use crate::support::{WITHIN, have_server, have_system};
use lockstorm_harness::connection::{HttpClient, encoded};
use lockstorm_harness::locks::LockRequest;
use lockstorm_nemesis::{Deployment as _, FaultError};
use lockstorm_scenarios::{
    Cut, CutMode, Etcd, FaultSpec, Kill, Memory, Pause, Restart, Stop, System, Topology, Zookeeper,
};
use serde_json::json;
use tokio::time::{Instant, sleep};

/// Pause between two looks at an awaited condition.
const POLL: Duration = Duration::from_millis(20);

/// Name of the lock.
const KEY: &str = "lock";

on_each_system!(
    another_member_leads_when_the_leader_is_killed_and_it_comes_back_to_follow,
    another_member_leads_when_the_leader_stands_still,
    a_leader_that_is_cut_off_is_replaced_and_what_was_held_back_is_counted,
    members_that_all_die_agree_again_when_they_are_back,
    a_member_stops_in_order_and_starts_again_with_what_it_kept,
    a_member_says_what_it_is_and_keeps,
);

/// Tells whether there are servers of a system here. The test bed looks for one of Redis, whatever
/// it starts.
fn have(system: System) -> bool {
    have_system(system) && have_server()
}

/// Three members with the fabric between them; `None` where there are none to be had.
async fn members(system: System) -> Option<TestBed> {
    let topology = match system {
        System::Etcd => Topology::Etcd(Etcd::default()),
        System::Zookeeper => Topology::Zookeeper(Zookeeper::default()),
        System::Redis | System::Mariadb | System::Postgres | System::Custom => {
            unreachable!("its servers have tests of their own")
        }
    };
    if !have(system) {
        return None;
    }
    Some(TestBed::new(topology, true).await)
}

/// The member that leads, once one of these does.
async fn leader_among(bed: &TestBed, names: &[String]) -> String {
    let deadline = Instant::now() + WITHIN;
    loop {
        let leaders = bed.servers.writable().await;
        if let Some(leader) = leaders.into_iter().find(|leader| names.contains(leader)) {
            return leader;
        }
        assert!(Instant::now() < deadline, "nobody leads among {names:?}");
        sleep(POLL).await;
    }
}

/// Waits until one member says that it leads. On a busy machine the leader may be too slow to say
/// so, or the others elect another once more.
async fn one_leads(bed: &TestBed) {
    let deadline = Instant::now() + WITHIN;
    loop {
        let leaders = bed.servers.writable().await;
        if leaders.len() == 1 {
            return;
        }
        assert!(Instant::now() < deadline, "{leaders:?} lead");
        sleep(POLL).await;
    }
}

/// The member that leads, and the others.
async fn ranks(bed: &TestBed) -> (String, Vec<String>) {
    let names = bed.servers.nodes().iter().map(|node| node.name.clone());
    let mut names: Vec<String> = names.collect();
    let leader = leader_among(bed, &names).await;
    names.retain(|name| *name != leader);
    (leader, names)
}

/// Tells whether anything is left of the lock and its queue.
async fn is_there(bed: &TestBed) -> bool {
    let (leader, _) = ranks(bed).await;
    let server = bed.servers.server(&leader).expect("it is there");
    server.has(KEY).await.expect("it looks")
}

/// Asks with time to wait, or looks again from the place that was taken before.
fn wait() -> LockRequest {
    LockRequest {
        wait: Some(WITHIN),
        ..LockRequest::default()
    }
}

fn is_healed(errors: &[FaultError]) {
    assert!(errors.is_empty(), "{errors:?}");
}

/// Another member leads while the leader suffers this fault, and all agree when it is healed.
async fn is_replaced(system: System, fault: impl FnOnce(String) -> FaultSpec) {
    let Some(mut bed) = members(system).await else {
        return;
    };
    let (leader, others) = ranks(&bed).await;
    let injected = bed.nemesis.inject(&fault(leader)).await;
    injected.expect("the leader is hit");
    leader_among(&bed, &others).await;
    is_healed(&bed.nemesis.heal_all().await);
    bed.servers.recover().await.expect("all agree again");
    one_leads(&bed).await;
    assert!(bed.servers.casualties().is_empty());
}

async fn another_member_leads_when_the_leader_is_killed_and_it_comes_back_to_follow(
    system: System,
) {
    is_replaced(system, |node| FaultSpec::Kill(Kill { node })).await;
}

/// A leader that stands still goes on to believe that it leads, until it is told.
async fn another_member_leads_when_the_leader_stands_still(system: System) {
    is_replaced(system, |node| FaultSpec::Pause(Pause { node })).await;
}

/// The links between members are known by the addresses that their connections come from.
async fn a_leader_that_is_cut_off_is_replaced_and_what_was_held_back_is_counted(system: System) {
    let Some(mut bed) = members(system).await else {
        return;
    };
    let (leader, others) = ranks(&bed).await;
    for other in &others {
        for (from, to) in [(&leader, other), (other, &leader)] {
            let (from, to, mode) = (from.clone(), to.clone(), CutMode::Stall);
            let cut = FaultSpec::Cut(Cut { from, to, mode });
            bed.nemesis.inject(&cut).await.expect("it is cut");
        }
    }
    leader_among(&bed, &others).await;
    let network = bed.servers.network().expect("the fabric is there");
    let held = |other: &String| network.held_back(&leader, other) > 0;
    assert!(others.iter().all(held), "nothing tried to pass");
    is_healed(&bed.nemesis.heal_all().await);
    bed.servers.recover().await.expect("all agree again");
}

async fn a_member_stops_in_order_and_starts_again_with_what_it_kept(system: System) {
    let Some(mut bed) = members(system).await else {
        return;
    };
    let (_, others) = ranks(&bed).await;
    let node = others[0].clone();
    let stop = FaultSpec::Stop(Stop { node });
    bed.nemesis.inject(&stop).await.expect("it ends");
    is_healed(&bed.nemesis.heal_all().await);
    let (node, memory) = (others[1].clone(), Memory::Kept);
    let restart = FaultSpec::Restart(Restart { node, memory });
    let restarted = bed.nemesis.inject(&restart).await;
    restarted.expect("another run shows");
    bed.servers.recover().await.expect("all agree again");
}

/// Members answer in their own words to what every server is asked.
async fn a_member_says_what_it_is_and_keeps(system: System) {
    let Some(bed) = members(system).await else {
        return;
    };
    let (leader, others) = ranks(&bed).await;
    let server = bed.servers.server(&leader).expect("it is there");
    server.greet().await.expect("it answers");
    assert!(server.rank().await.expect("it says").leads);
    let other = bed.servers.server(&others[0]).expect("it is there");
    assert!(!other.rank().await.expect("it says").leads);
    assert_eq!(server.entries().await.expect("it counts"), 0);
    assert!(!server.has("lock").await.expect("it looks"));
    let written = server.write_nothing("nothing").await;
    written.expect("a majority takes writes");
    assert_eq!(server.system(), system);
    assert!(server.redis().is_none());
    server.run().await.expect("it says since when it runs");
}

/// The first that come back meet no leader until most of them are there.
async fn members_that_all_die_agree_again_when_they_are_back(system: System) {
    let Some(mut bed) = members(system).await else {
        return;
    };
    let (leader, others) = ranks(&bed).await;
    for node in [leader].into_iter().chain(others) {
        let killed = bed.nemesis.inject(&FaultSpec::Kill(Kill { node })).await;
        killed.expect("it dies");
    }
    is_healed(&bed.nemesis.heal_all().await);
    bed.servers.recover().await.expect("all agree again");
    one_leads(&bed).await;
}

/// A member of ZooKeeper that comes back without its data learns all from the others; etcd refuses
/// one, see the rules of scenarios.
#[tokio::test]
async fn a_member_that_comes_back_without_its_data_follows_again() {
    let Some(mut bed) = members(System::Zookeeper).await else {
        return;
    };
    let (_, others) = ranks(&bed).await;
    let (node, memory) = (others[0].clone(), Memory::Lost);
    let restart = FaultSpec::Restart(Restart { node, memory });
    let restarted = bed.nemesis.inject(&restart).await;
    restarted.expect("another run shows");
    bed.servers.recover().await.expect("all agree again");
}

/// Locks of others need no queue: a key that is called as the lock is, with the lease of its
/// holder.
#[tokio::test]
async fn a_lock_that_is_one_key_of_its_name_is_seen_with_the_time_that_it_has_left() {
    let Some(bed) = members(System::Etcd).await else {
        return;
    };
    let context = bed.context(0);
    let mut client = HttpClient::new(context.dialer, &context.route);
    let lease = json!({ "ID": "7", "TTL": "60" });
    let key = json!({ "key": encoded(KEY), "value": encoded("its holder"), "lease": "7" });
    for (path, body) in [("/v3/lease/grant", lease), ("/v3/kv/put", key)] {
        let answer = client.post(path, &body).await;
        assert!(answer.expect("the members agree").status.is_success());
    }

    let views = bed.views(&[KEY, "another"]).await;

    let seen = |name: &str| {
        let (_, nodes) = views.iter().find(|(key, _)| key == name).expect("asked");
        nodes
            .iter()
            .filter(|node| node.is_there())
            .collect::<Vec<_>>()
    };
    assert!(seen("another").is_empty(), "{views:?}");
    let holder = seen(KEY);
    assert!(!holder.is_empty(), "{views:?}");
    for node in holder {
        assert_eq!(node.content.as_deref(), Some("the key 'lock'"));
        let left = node.left_ms.expect("its lease has an end");
        assert!(left > 0 && left <= 60_000, "{left}");
    }
}

/// A connection is kept from one request to the next, however quickly that comes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn thousands_of_requests_over_one_connection_are_all_answered() {
    let Some(bed) = members(System::Etcd).await else {
        return;
    };
    let context = bed.context(0);
    let mut client = HttpClient::new(context.dialer, &context.route);
    for request in 0..3_000 {
        let answer = client.post("/v3/maintenance/status", &json!({})).await;
        let answer = answer.unwrap_or_else(|error| panic!("request {request}: {error}"));
        assert!(answer.status.is_success(), "{answer:?}");
    }
}
