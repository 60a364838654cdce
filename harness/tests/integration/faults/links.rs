//! Slow links and partitions.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use lockstorm_harness::connection::Wire;
use lockstorm_scenarios::{CutMode, Delay, DurationSpec, FaultSpec, Partition, Persistence};
use tokio::net::TcpSocket;
use tokio::time::Instant;

use crate::faults::test_bed::{WHOLE_LIFE, bed, replicated, single};
use crate::support::have_server;

/// A reply takes at least as long as the link is slow, and no longer once it is healed: what the
/// client measures, since the servers notice nothing. Only a lower bound is asserted.
#[tokio::test(flavor = "multi_thread")]
async fn a_delay_between_a_client_and_its_server_is_what_the_client_measures() {
    if !have_server() {
        return;
    }
    let mut bed = bed(single(Persistence::None), true).await;
    bed.servers.registry().register("a");
    let source = bed.servers.introduce_client("a", 0);
    let delay = FaultSpec::Delay(Delay {
        from: "primary".into(),
        to: "a".into(),
        by: DurationSpec::from_millis(200),
        jitter: DurationSpec::default(),
    });
    bed.inject(delay).await;
    let address = bed.servers.nodes()[0].public;
    let mut wire = dial(source, address).await;
    let asked = Instant::now();
    let reply = wire.send(&redis::cmd("PING")).await.expect("it answers");
    assert_eq!(reply, redis::Value::SimpleString("PONG".to_owned()));
    assert!(asked.elapsed() >= Duration::from_millis(200));
    bed.nemesis
        .heal_kind("delay", None)
        .await
        .expect("the link heals");
    assert_eq!(bed.notes.phases(), WHOLE_LIFE);
}

/// Both ways are shut between the sides, and inside a side nothing changes.
#[tokio::test(flavor = "multi_thread")]
async fn a_partition_parts_a_primary_from_its_replica_and_not_from_its_client() {
    if !have_server() {
        return;
    }
    let mut bed = bed(replicated(), true).await;
    bed.servers.registry().register("a");
    let source = bed.servers.introduce_client("a", 0);
    let sides = [vec!["primary".into(), "a".into()], vec!["replicas".into()]];
    let partition = FaultSpec::Partition(Partition {
        sides: sides.into(),
        form: None,
        clients: 0,
        mode: CutMode::Stall,
    });
    bed.inject(partition).await;
    let mut wire = dial(source, bed.servers.nodes()[0].public).await;
    wire.send(redis::cmd("SET").arg("lock").arg("a"))
        .await
        .expect("the client is on the side of the primary");
    let wait = redis::cmd("WAIT").arg(1).arg(300).to_owned();
    let reached = wire.send(&wait).await.expect("it counts");
    assert_eq!(reached, redis::Value::Int(0), "the replica is on the other");
    bed.nemesis
        .heal_kind("partition", None)
        .await
        .expect("the partition heals");
    bed.until("replica-1", &["EXISTS", "lock"], |count| count == "1")
        .await;
}

/// A connection from a client's own address, by which the fabric knows it.
async fn dial(source: IpAddr, address: SocketAddr) -> Wire {
    let socket = TcpSocket::new_v4().expect("a socket can be made");
    socket
        .bind((source, 0).into())
        .expect("the address is free");
    let stream = socket.connect(address).await.expect("the server is up");
    Wire::new(stream)
}
