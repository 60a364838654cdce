//! Replication through the fabric: who calls is known by `bind-source-addr`, so the link between
//! two servers can be cut like any other.

use std::path::Path;

use lockstorm_nemesis::{Fabric, Network};
use lockstorm_scenarios::{CutMode, System};

use crate::fabric::support::{Addresses, Reply, Server, eventually, redis_server};

/// Configuration of a node: all it connects to, and all that others are told of it, goes by its
/// public address.
fn config(addresses: &Addresses, n: u8) -> String {
    let ip = addresses.public(n);
    let replicaof = match n {
        1 => String::new(),
        _ => format!("replicaof {} 6379\n", addresses.public(1)),
    };
    format!(
        "save \"\"\nappendonly no\nrepl-diskless-sync-delay 0\nrepl-ping-replica-period 1\n\
         bind-source-addr {ip}\nreplica-announce-ip {ip}\nreplica-announce-port 6379\n{replicaof}"
    )
}

async fn node(program: &Path, fabric: &Fabric, addresses: &Addresses, n: u8) -> Server {
    let name = if n == 1 { "primary" } else { "replica-1" };
    fabric
        .expose(name, addresses.door(n), addresses.behind(n))
        .await
        .unwrap();
    let config = config(addresses, n);
    Server::start(program, addresses.behind(n), &config, false, &[]).await
}

async fn in_sync(primary: &Server, replica_ip: &str) {
    eventually("the primary counts its replica as online", async || {
        let info = primary.ask(&["INFO", "replication"]).await;
        let online = format!("slave0:ip={replica_ip},port=6379,state=online");
        info.text().contains(&online)
    })
    .await;
}

async fn has(server: &Server, key: &str) -> bool {
    server.ask(&["EXISTS", key]).await == Reply::Integer(1)
}

#[tokio::test]
async fn a_cut_from_primary_to_replica_keeps_writes_from_it_until_it_heals() {
    let Some(program) = redis_server() else {
        return;
    };
    let (fabric, addresses) = (Fabric::new(System::Redis), Addresses::claim());
    let primary = node(&program, &fabric, &addresses, 1).await;
    let replica = node(&program, &fabric, &addresses, 2).await;
    in_sync(&primary, &addresses.public(2).to_string()).await;
    primary.ask(&["SET", "before", "1"]).await;
    eventually("replication works", async || has(&replica, "before").await).await;

    let cut = fabric.cut("primary", "replica-1", CutMode::Stall);
    primary.ask(&["SET", "during", "1"]).await;
    // The write has left the primary for the replica, and the fabric has it.
    eventually("the write is held back", async || {
        fabric.held_back("primary", "replica-1") > 0
    })
    .await;
    assert!(has(&primary, "during").await);
    assert!(!has(&replica, "during").await);
    drop(cut);
    eventually("the write arrives after the heal", async || {
        has(&replica, "during").await
    })
    .await;
}

/// Failovers lose the lock in every run because of this: a dead primary's last write, cut off, must
/// not slip through to the replica, nor may the replica be told that the primary is gone.
#[tokio::test]
async fn a_write_of_a_killed_primary_stays_behind_the_cut() {
    let Some(program) = redis_server() else {
        return;
    };
    let (fabric, addresses) = (Fabric::new(System::Redis), Addresses::claim());
    let mut primary = node(&program, &fabric, &addresses, 1).await;
    let replica = node(&program, &fabric, &addresses, 2).await;
    in_sync(&primary, &addresses.public(2).to_string()).await;

    let _cut = fabric.cut("primary", "replica-1", CutMode::Stall);
    primary.ask(&["SET", "lost", "1"]).await;
    primary.kill();
    eventually("the write is held back", async || {
        fabric.held_back("primary", "replica-1") > 0
    })
    .await;
    let info = replica.ask(&["INFO", "replication"]).await;
    assert!(info.text().contains("master_link_status:up"), "{info:?}");
    replica.ask(&["REPLICAOF", "NO", "ONE"]).await;
    assert!(!has(&replica, "lost").await);
}

#[tokio::test]
async fn a_reset_breaks_replication_until_it_heals() {
    let Some(program) = redis_server() else {
        return;
    };
    let (fabric, addresses) = (Fabric::new(System::Redis), Addresses::claim());
    let primary = node(&program, &fabric, &addresses, 1).await;
    let replica = node(&program, &fabric, &addresses, 2).await;
    let ip = addresses.public(2).to_string();
    in_sync(&primary, &ip).await;

    let cut = fabric.cut("replica-1", "primary", CutMode::Reset);
    eventually("the replica sees its link go down", async || {
        let info = replica.ask(&["INFO", "replication"]).await;
        info.text().contains("master_link_status:down")
    })
    .await;
    drop(cut);
    in_sync(&primary, &ip).await;
}
