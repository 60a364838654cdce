//! Sentinel behind the fabric: identity by public address survives the switch in the path, and a
//! failover completes.

use std::path::Path;

use lockstorm_nemesis::{Fabric, Network};
use lockstorm_scenarios::{CutMode, System};

use crate::fabric::support::{Addresses, Reply, Server, eventually, redis_server};

const SENTINEL_PORT: u16 = 26379;

/// One primary (n = 1), one replica (n = 2), three sentinels (n = 3, 4, 5).
struct Topology {
    fabric: Fabric,
    addresses: Addresses,
    primary: Server,
    replica: Server,
    sentinels: Vec<Server>,
}

async fn data_node(program: &Path, fabric: &Fabric, addresses: &Addresses, n: u8) -> Server {
    let name = ["primary", "replica-1"][usize::from(n - 1)];
    fabric
        .expose(name, addresses.door(n), addresses.behind(n))
        .await
        .unwrap();
    let ip = addresses.public(n);
    let replicaof = match n {
        1 => String::new(),
        _ => format!("replicaof {} 6379\n", addresses.public(1)),
    };
    let config = format!(
        "save \"\"\nappendonly no\nrepl-diskless-sync-delay 0\nbind-source-addr {ip}\n\
         replica-announce-ip {ip}\nreplica-announce-port 6379\n{replicaof}"
    );
    Server::start(program, addresses.behind(n), &config, false, &[]).await
}

async fn sentinel(program: &Path, fabric: &Fabric, addresses: &Addresses, n: u8) -> Server {
    let door = (addresses.public(n), SENTINEL_PORT).into();
    let behind = (addresses.private(n), SENTINEL_PORT).into();
    let name = format!("sentinel-{}", n - 2);
    fabric.expose(&name, door, behind).await.unwrap();
    let (ip, primary) = (addresses.public(n), addresses.public(1));
    let id = |n: u8| format!("{n:040x}");
    let others: Vec<_> = (3..=5)
        .filter(|other| *other != n)
        .map(|other| {
            let (ip, id) = (addresses.public(other), id(other));
            format!("sentinel known-sentinel mymaster {ip} {SENTINEL_PORT} {id}\n")
        })
        .collect();
    let config = format!(
        "bind-source-addr {ip}\nsentinel monitor mymaster {primary} 6379 2\n\
         sentinel down-after-milliseconds mymaster 500\n\
         sentinel failover-timeout mymaster 3000\n\
         sentinel announce-ip {ip}\nsentinel announce-port {SENTINEL_PORT}\n\
         sentinel myid {}\nsentinel known-replica mymaster {} 6379\n{}",
        id(n),
        addresses.public(2),
        others.concat()
    );
    let server = Server::start(program, behind, &config, true, &[]).await;
    // Failover within seconds instead of tens of them; a sentinel keeps none of it on disk.
    let tuned = server
        .ask(&[
            "SENTINEL",
            "DEBUG",
            "INFO-PERIOD",
            "100",
            "PING-PERIOD",
            "200",
            "ASK-PERIOD",
            "100",
            "PUBLISH-PERIOD",
            "200",
        ])
        .await;
    assert_eq!(tuned, Reply::Text("OK".to_owned()));
    server
}

impl Topology {
    async fn start() -> Option<Self> {
        let program = redis_server()?;
        let (fabric, addresses) = (Fabric::new(System::Redis), Addresses::claim());
        let primary = data_node(&program, &fabric, &addresses, 1).await;
        let replica = data_node(&program, &fabric, &addresses, 2).await;
        eventually("the replica is online", async || {
            let info = primary.ask(&["INFO", "replication"]).await;
            info.text().contains("state=online")
        })
        .await;
        let mut sentinels = Vec::new();
        for n in 3..=5 {
            sentinels.push(sentinel(&program, &fabric, &addresses, n).await);
        }
        for sentinel in &sentinels {
            eventually(
                "each sentinel has a quorum and a healthy replica",
                async || {
                    let quorum = sentinel.ask(&["SENTINEL", "CKQUORUM", "mymaster"]).await;
                    let replicas = sentinel.ask(&["SENTINEL", "REPLICAS", "mymaster"]).await;
                    quorum.text().starts_with("OK 3") && format!("{replicas:?}").contains("\"ok\"")
                },
            )
            .await;
        }
        Some(Self {
            fabric,
            addresses,
            primary,
            replica,
            sentinels,
        })
    }

    /// Waits until the replica is primary and every sentinel names it.
    async fn failed_over(&self) {
        eventually("the replica is promoted", async || {
            let info = self.replica.ask(&["INFO", "replication"]).await;
            info.text().contains("role:master")
        })
        .await;
        let new = Reply::Text(self.addresses.public(2).to_string());
        for sentinel in &self.sentinels {
            eventually("each sentinel names the new primary", async || {
                let named = sentinel
                    .ask(&["SENTINEL", "GET-MASTER-ADDR-BY-NAME", "mymaster"])
                    .await;
                matches!(named, Reply::Array(parts) if parts.first() == Some(&new))
            })
            .await;
        }
    }
}

#[tokio::test]
async fn sentinels_behind_the_fabric_fail_over_when_the_primary_dies() {
    let Some(mut topology) = Topology::start().await else {
        return;
    };
    topology.primary.kill();
    topology.failed_over().await;
}

/// The primary lives and is only cut off from the sentinels: proof that their links run through
/// the fabric, for else they would go on hearing from it.
#[tokio::test]
async fn sentinels_that_are_cut_off_from_the_primary_replace_it() {
    let Some(topology) = Topology::start().await else {
        return;
    };
    let cuts: Vec<_> = (1..=3)
        .map(|n| {
            topology
                .fabric
                .cut("primary", &format!("sentinel-{n}"), CutMode::Stall)
        })
        .collect();
    topology.failed_over().await;
    let info = topology.primary.ask(&["INFO", "replication"]).await;
    assert!(info.text().contains("role:master"), "it was told: {info:?}");
    drop(cuts);
}
