//! Servers that one trial of a hunt leaves to the next: clean, and alive.

use std::path::Path;
use std::sync::Arc;

use lockstorm_harness::locks::{Lock as _, LockRequest, Outcome};
use lockstorm_harness::server::{Node, Servers, Spares, Wiring};
use lockstorm_nemesis::Deployment as _;
use lockstorm_scenarios::{
    Etcd, Independent, Mariadb, Persistence, Postgres, Replicated, Single, Topology, Zookeeper,
};

use crate::support::test_bed::TestBed;
use crate::support::{TRIES_MAX, have_server, have_system, sparing};

/// Name of the lock that the first client takes.
const KEY: &str = "lock";
/// Network of trials.
const WIRING: Wiring = Wiring::Fabric {
    reads_messages: true,
};

fn pids(servers: &Servers) -> Vec<Option<i32>> {
    servers.nodes().iter().map(Node::pid).collect()
}

/// Servers on which locks were taken and not given back are used again, with nothing left on them.
async fn nothing_is_left(topology: Topology, locks: &[&str]) {
    if !(have_server() && have_system(topology.kind().system())) {
        return;
    }
    for _ in 0..TRIES_MAX {
        if are_used_again(&topology, locks).await {
            return;
        }
    }
    panic!("they are not used again");
}

/// A client takes each of the locks, nobody gives them back, and another finds them free. Tells
/// whether that was on the same servers: where one does not answer in time, on a busy machine,
/// others take their place.
async fn are_used_again(topology: &Topology, locks: &[&str]) -> bool {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let spares = Arc::new(Spares::new(folder.path().join("servers")));
    let start = async || {
        let settings = sparing(topology.clone(), spares.clone(), WIRING);
        TestBed::of(Servers::start(settings).await.expect("the servers start"))
    };
    let first = start().await;
    let running = pids(&first.servers);
    let mut clients = Vec::new();
    for (n, lock) in locks.iter().enumerate() {
        let mut client = first.patient(n, lock);
        let granted = client.acquire(KEY, LockRequest::default()).await;
        assert!(matches!(granted, Outcome::Done(_)), "{lock}: {granted:?}");
        clients.push(client);
    }
    let fleet = first.servers.fleet();
    first.servers.close_network().await;
    drop(first);
    spares.keep(fleet, WIRING).await;
    let second = start().await;
    for node in second.servers.nodes() {
        let entries = node.server().entries().await;
        assert_eq!(entries.expect("it says"), 0, "{}", node.name);
    }
    for (n, lock) in locks.iter().enumerate() {
        let mut client = second.patient(n, lock);
        let granted = client.acquire(KEY, LockRequest::default()).await;
        assert!(matches!(granted, Outcome::Done(_)), "{lock}: {granted:?}");
    }
    pids(&second.servers) == running
}

#[tokio::test]
async fn nothing_is_left_on_one_server() {
    let single = Topology::Single(Single::default());
    nothing_is_left(single, &["redisson = { lease = \"60s\" }"]).await;
}

#[tokio::test]
async fn nothing_is_left_on_a_primary_and_its_replica() {
    let replicated = Topology::Replicated(Replicated::default());
    nothing_is_left(replicated, &["token = { lease = \"60s\" }"]).await;
}

#[tokio::test]
async fn nothing_is_left_on_masters() {
    let masters = Topology::Independent(Independent {
        nodes: 3,
        replicas: 0,
        persistence: Persistence::None,
    });
    nothing_is_left(masters, &["redlock = { lease = \"60s\" }"]).await;
}

#[tokio::test]
async fn nothing_is_left_on_mariadb() {
    let mariadb = Topology::Mariadb(Mariadb::default());
    nothing_is_left(mariadb, &["mysql-unique-index = {}", "mysql-get-lock = {}"]).await;
}

#[tokio::test]
async fn nothing_is_left_on_postgres() {
    let postgres = Topology::Postgres(Postgres::default());
    let locks = [
        "postgres-row-lease = { lease = \"60s\" }",
        "postgres-advisory = {}",
    ];
    nothing_is_left(postgres, &locks).await;
}

#[tokio::test]
async fn nothing_is_left_on_etcd() {
    let etcd = Topology::Etcd(Etcd::default());
    nothing_is_left(etcd, &["etcd-mutex = { lease = \"60s\" }"]).await;
}

#[tokio::test]
async fn nothing_is_left_on_zookeeper() {
    let zookeeper = Topology::Zookeeper(Zookeeper::default());
    nothing_is_left(zookeeper, &["zookeeper-mutex = { session = \"20s\" }"]).await;
}

/// A server to which something is done, while a trial uses it or afterwards, is not used again, and
/// another is.
async fn is_replaced(used: impl AsyncFnOnce(&Node), kept: impl FnOnce(Option<i32>)) {
    if !have_server() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let spares = Arc::new(Spares::new(folder.path().join("servers")));
    let start = async || {
        let single = Topology::Single(Single::default());
        let settings = sparing(single, spares.clone(), WIRING);
        Servers::start(settings).await.expect("the servers start")
    };
    let first = start().await;
    let changed = pids(&first);
    used(&first.nodes()[0]).await;
    let fleet = first.fleet();
    first.close_network().await;
    drop(first);
    spares.keep(fleet, WIRING).await;
    kept(changed[0]);
    let second = start().await;
    assert_ne!(pids(&second), changed);
    second
        .server("primary")
        .expect("it is there")
        .greet()
        .await
        .expect("it answers");
}

#[tokio::test]
async fn a_server_that_has_died_is_not_used_again() {
    let kill = |pid: Option<i32>| {
        let pid = nix::unistd::Pid::from_raw(pid.expect("it runs"));
        nix::sys::signal::kill(pid, nix::sys::signal::SIGKILL).expect("it can be killed");
    };
    is_replaced(async |_| {}, kill).await;
}

#[tokio::test]
async fn a_server_whose_settings_were_changed_is_not_used_again() {
    let change = async |node: &Node| {
        let change = ["CONFIG", "SET", "notify-keyspace-events", "KEA"];
        node.ask(&change).await.expect("it obeys");
    };
    is_replaced(change, |_| {}).await;
}

#[tokio::test]
async fn files_of_servers_go_with_them() {
    if !have_server() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let place = folder.path().join("servers");
    let spares = Arc::new(Spares::new(place.clone()));
    let single = Topology::Single(Single::default());
    let settings = sparing(single, spares.clone(), WIRING);
    let servers = Servers::start(settings).await.expect("the servers start");
    let fleet = servers.fleet();
    drop(servers);
    spares.keep(fleet, WIRING).await;
    assert!(Path::exists(&place), "they have a folder");
    drop(spares);
    assert!(!Path::exists(&place), "it is left");
}
