//! Redis Cluster behind the fabric: client ports and bus ports, three masters.

use std::net::SocketAddr;
use std::path::Path;

use lockstorm_nemesis::{Fabric, Network};
use lockstorm_scenarios::{CutMode, System};

use crate::fabric::support::{Addresses, Client, Reply, Server, eventually, redis_server};

const MASTERS: u8 = 3;
const BUS_PORT: u16 = 16379;
const SLOTS: [&str; 3] = ["0-5460", "5461-10922", "10923-16383"];

/// A server writes its view of the cluster to this file, and reads it when it starts: written
/// in advance, nobody has to be introduced to anybody.
fn nodes_conf(addresses: &Addresses, myself: u8) -> String {
    let line = |n: u8| {
        let (ip, slots) = (addresses.public(n), SLOTS[usize::from(n - 1)]);
        let flags = if n == myself {
            "myself,master"
        } else {
            "master"
        };
        format!("{n:040x} {ip}:6379@{BUS_PORT} {flags} - 0 0 {n} connected {slots}\n")
    };
    let lines: Vec<_> = (1..=MASTERS).map(line).collect();
    lines.concat() + "vars currentEpoch 3 lastVoteEpoch 0\n"
}

async fn master(program: &Path, fabric: &Fabric, addresses: &Addresses, n: u8) -> Server {
    let name = format!("n{n}");
    let (ip, private) = (addresses.public(n), addresses.private(n));
    for port in [6379, BUS_PORT] {
        fabric
            .expose(&name, (ip, port).into(), (private, port).into())
            .await
            .unwrap();
    }
    let config = format!(
        "save \"\"\nappendonly no\ncluster-enabled yes\ncluster-config-file nodes.conf\n\
         cluster-node-timeout 1000\nbind-source-addr {ip}\ncluster-announce-ip {ip}\n\
         cluster-announce-port 6379\ncluster-announce-bus-port {BUS_PORT}\n"
    );
    let nodes = [("nodes.conf", nodes_conf(addresses, n))];
    Server::start(program, addresses.behind(n), &config, false, &nodes).await
}

async fn says(server: &Server, state: &str) -> bool {
    let info = server.ask(&["CLUSTER", "INFO"]).await;
    info.text().contains(&format!("cluster_state:{state}"))
}

async fn cluster() -> Option<(Fabric, Addresses, Vec<Server>)> {
    let program = redis_server()?;
    let (fabric, addresses) = (Fabric::new(System::Redis), Addresses::claim());
    fabric.introduce("a", addresses.client(1));
    let mut masters = Vec::new();
    for n in 1..=MASTERS {
        masters.push(master(&program, &fabric, &addresses, n).await);
    }
    for master in &masters {
        eventually("each master finds the cluster ok", async || {
            says(master, "ok").await
        })
        .await;
    }
    Some((fabric, addresses, masters))
}

#[tokio::test]
async fn a_cluster_behind_the_fabric_redirects_to_public_addresses() {
    let Some((_fabric, addresses, _masters)) = cluster().await else {
        return;
    };
    let from = addresses.client(1);
    // Slot 12182 is the third master's, so the first one answers with a redirect.
    let mut first = Client::connect(from, addresses.door(1)).await.unwrap();
    let Reply::Error(moved) = first.call(&["SET", "foo", "bar"]).await.unwrap() else {
        panic!("a redirect was due");
    };
    let target = moved
        .strip_prefix("MOVED 12182 ")
        .expect("a redirect of the slot of foo");
    let target: SocketAddr = target.parse().unwrap();
    assert_eq!(target, addresses.door(3));
    let mut owner = Client::connect(from, target).await.unwrap();
    owner.call(&["SET", "foo", "bar"]).await.unwrap();
    assert_eq!(
        owner.call(&["GET", "foo"]).await.unwrap(),
        Reply::Text("bar".to_owned())
    );
}

/// The cluster bus passes the fabric: a master from which nothing arrives is given up by the
/// others, and taken back after the heal.
#[tokio::test]
async fn a_master_whose_bus_is_cut_off_is_noticed_and_comes_back_after_the_heal() {
    let Some((fabric, _addresses, masters)) = cluster().await else {
        return;
    };
    let cuts = ["n1", "n2"].map(|other| fabric.cut("n3", other, CutMode::Stall));
    for master in &masters[..2] {
        eventually("the others find the cluster incomplete", async || {
            says(master, "fail").await
        })
        .await;
    }
    assert!(fabric.held_back("n3", "n1") > 0 && fabric.held_back("n3", "n2") > 0);
    drop(cuts);
    for master in &masters {
        eventually("the cluster is whole again", async || {
            says(master, "ok").await
        })
        .await;
    }
}
