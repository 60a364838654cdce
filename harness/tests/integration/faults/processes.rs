//! Faults of processes, links, clients and single keys.

use lockstorm_checker::history::FaultPhase;
use lockstorm_harness::connection::Wire;
use lockstorm_nemesis::{ClientState, Deployment as _};
use lockstorm_scenarios as scenarios;
use lockstorm_scenarios::{
    Cut, CutMode, DeleteKey, Failover, FailoverMode, FaultSpec, Independent, KillClient, Link,
    Memory, Pause, PauseClient, Persistence, Promote, Stop, Topology,
};
use tokio::net::TcpStream;

use crate::faults::test_bed::{WHOLE_LIFE, bed, kill, replicated, restart, single};
use crate::support::have_server;

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_server_is_gone_and_comes_back_when_healed() {
    if !have_server() {
        return;
    }
    let mut bed = bed(single(Persistence::None), false).await;
    bed.inject(kill("primary")).await;
    assert_eq!(bed.servers.pid("primary"), None);
    assert!(
        bed.ask("primary", &["PING"]).await.is_err(),
        "a dead server answers nobody"
    );
    bed.nemesis
        .heal("kill", "primary")
        .await
        .expect("it can be started again");
    assert_eq!(bed.ask("primary", &["PING"]).await.as_deref(), Ok("PONG"));
    assert_eq!(bed.notes.phases(), WHOLE_LIFE);
}

/// Where nothing is written but snapshots, an orderly end writes one, and SIGKILL does not.
#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_server_saves_what_a_killed_one_loses() {
    if !have_server() {
        return;
    }
    let stop = FaultSpec::Stop(Stop {
        node: "primary".into(),
    });
    for (fault, kind, kept) in [(stop, "stop", "1"), (kill("primary"), "kill", "0")] {
        let mut bed = bed(single(Persistence::Rdb), false).await;
        bed.ask("primary", &["SET", "lock", "a"])
            .await
            .expect("the server answers");
        bed.inject(fault).await;
        assert_eq!(bed.servers.pid("primary"), None);
        bed.nemesis
            .heal(kind, "primary")
            .await
            .expect("it can be started again");
        let key = bed.ask("primary", &["EXISTS", "lock"]).await;
        assert_eq!(key.as_deref(), Ok(kept), "{kind}");
        assert_eq!(bed.notes.phases(), WHOLE_LIFE);
    }
}

/// Kept by every persistence that writes at all, lost by the one that does not: SIGKILL never
/// loses what the kernel already has.
#[tokio::test(flavor = "multi_thread")]
async fn a_restart_keeps_what_persistence_keeps_and_loses_all_when_told_to() {
    if !have_server() {
        return;
    }
    for (persistence, memory, kept) in [
        (Persistence::None, Memory::Kept, "0"),
        (Persistence::AofEverysec, Memory::Kept, "1"),
        (Persistence::AofAlways, Memory::Kept, "1"),
        (Persistence::AofAlways, Memory::Lost, "0"),
    ] {
        let mut bed = bed(single(persistence), false).await;
        bed.ask("primary", &["SET", "lock", "a"])
            .await
            .expect("the server answers");
        let before = bed.servers.pid("primary");
        bed.inject(restart(memory)).await;
        assert_ne!(
            bed.servers.pid("primary"),
            before,
            "another process answers now"
        );
        let left = bed.ask("primary", &["EXISTS", "lock"]).await;
        assert_eq!(left.as_deref(), Ok(kept), "{persistence:?}, {memory:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_snapshot_survives_a_restart_once_it_is_written() {
    if !have_server() {
        return;
    }
    let mut bed = bed(single(Persistence::Rdb), false).await;
    bed.ask("primary", &["SET", "lock", "a"])
        .await
        .expect("the server answers");
    // `save 1 1` writes within about a second; until then a kill loses the key.
    bed.until("primary", &["INFO", "persistence"], |info| {
        info.contains("rdb_changes_since_last_save:0")
    })
    .await;
    bed.inject(restart(Memory::Kept)).await;
    assert_eq!(
        bed.ask("primary", &["EXISTS", "lock"]).await.as_deref(),
        Ok("1")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_server_is_silent_until_it_is_resumed() {
    if !have_server() {
        return;
    }
    let mut bed = bed(single(Persistence::None), false).await;
    bed.inject(FaultSpec::Pause(Pause {
        node: "primary".to_owned(),
    }))
    .await;
    assert!(
        bed.servers.pid("primary").is_some(),
        "a paused server is alive"
    );
    assert!(
        bed.ask("primary", &["PING"]).await.is_err(),
        "and says nothing"
    );
    bed.nemesis
        .heal("pause", "primary")
        .await
        .expect("it can be resumed");
    assert_eq!(bed.ask("primary", &["PING"]).await.as_deref(), Ok("PONG"));
    assert_eq!(bed.notes.phases(), WHOLE_LIFE);
}

/// A write on the primary does not reach the replica while the link is cut, and does afterwards:
/// the cut acts on replication itself, and heals without loss.
#[tokio::test(flavor = "multi_thread")]
async fn a_stalled_replication_link_holds_writes_back_until_it_heals() {
    if !have_server() {
        return;
    }
    let mut bed = bed(replicated(), true).await;
    let cut = Cut {
        from: "primary".into(),
        to: "replicas".into(),
        mode: CutMode::Stall,
    };
    bed.inject(FaultSpec::Cut(cut)).await;
    // WAIT gives the replica all the time it would have needed, and counts who got the write; it
    // counts the writes of its own connection.
    let address = bed.servers.nodes()[0].private;
    let stream = TcpStream::connect(address)
        .await
        .expect("the primary is up");
    let mut wire = Wire::new(stream);
    wire.send(redis::cmd("SET").arg("lock").arg("a"))
        .await
        .expect("it takes the write");
    let reached = wire
        .send(redis::cmd("WAIT").arg(1).arg(300))
        .await
        .expect("it counts");
    assert_eq!(reached, redis::Value::Int(0), "nothing passes a cut link");
    assert_eq!(
        bed.ask("replica-1", &["EXISTS", "lock"]).await.as_deref(),
        Ok("0")
    );
    let link = Link {
        from: "primary".into(),
        to: "replicas".into(),
    };
    bed.nemesis.heal_link(&link).await.expect("the link heals");
    bed.until("replica-1", &["EXISTS", "lock"], |count| count == "1")
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reset_link_drops_the_connections_of_replication() {
    if !have_server() {
        return;
    }
    let mut bed = bed(replicated(), true).await;
    let cut = Cut {
        from: "primary".into(),
        to: "replicas".into(),
        mode: CutMode::Reset,
    };
    bed.inject(FaultSpec::Cut(cut)).await;
    bed.until("replica-1", &["INFO", "replication"], |info| {
        info.contains("master_link_status:down")
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_promoted_replica_takes_writes_and_clients_are_sent_there() {
    if !have_server() {
        return;
    }
    let mut bed = bed(replicated(), false).await;
    let refused = bed.ask("replica-1", &["SET", "lock", "a"]).await;
    let read_only = refused.is_err_and(|error| error.contains("read only"));
    assert!(read_only, "a replica takes no writes");
    bed.inject(kill("primary")).await;
    bed.inject(FaultSpec::Promote(Promote {
        node: "replica-1".to_owned(),
    }))
    .await;
    assert_eq!(
        bed.ask("replica-1", &["SET", "lock", "a"]).await.as_deref(),
        Ok("OK")
    );
    assert_eq!(bed.servers.writable().await, ["replica-1"]);
}

/// Unlike a promotion it loses nothing, and leaves one primary: the other one follows it.
#[tokio::test(flavor = "multi_thread")]
async fn a_planned_failover_hands_over_all_and_leaves_one_primary() {
    if !have_server() {
        return;
    }
    for mode in [FailoverMode::Agreed, FailoverMode::Force] {
        let mut bed = bed(replicated(), false).await;
        let written = bed.ask("primary", &["SET", "lock", "a"]).await;
        assert_eq!(written.as_deref(), Ok("OK"));
        let node = "replica-1".to_owned();
        bed.inject(FaultSpec::Failover(Failover { node, mode }))
            .await;
        assert_eq!(bed.servers.writable().await, ["replica-1"]);
        let kept = bed.ask("replica-1", &["GET", "lock"]).await;
        assert_eq!(kept.as_deref(), Ok("a"));
        let refused = bed.ask("primary", &["SET", "lock", "b"]).await;
        assert!(refused.is_err_and(|error| error.contains("read only")));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_key_is_gone_from_every_master() {
    if !have_server() {
        return;
    }
    let topology = Topology::Independent(Independent {
        replicas: 0,
        nodes: 3,
        persistence: Persistence::None,
    });
    let mut bed = bed(topology, false).await;
    for node in ["n1", "n2", "n3"] {
        bed.ask(node, &["SET", "lock", "a"])
            .await
            .expect("the server answers");
    }
    bed.inject(FaultSpec::DeleteKey(DeleteKey {
        key: "lock".to_owned(),
        node: None,
    }))
    .await;
    for node in ["n1", "n2", "n3"] {
        assert_eq!(
            bed.ask(node, &["EXISTS", "lock"]).await.as_deref(),
            Ok("0"),
            "{node}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn deleting_a_key_that_is_not_there_is_no_fault() {
    if !have_server() {
        return;
    }
    let mut bed = bed(single(Persistence::None), false).await;
    let fault = FaultSpec::DeleteKey(DeleteKey {
        key: "nothing".to_owned(),
        node: None,
    });
    let error = bed
        .nemesis
        .inject(&fault)
        .await
        .expect_err("nothing was there to delete");
    assert!(error.to_string().contains("no observed effect"), "{error}");
    assert!(!bed.notes.phases().contains(&FaultPhase::Observed));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_client_stands_still_and_a_killed_one_stays_dead() {
    if !have_server() {
        return;
    }
    let mut bed = bed(single(Persistence::None), false).await;
    let gate = bed.servers.registry().register("a");
    bed.inject(FaultSpec::PauseClient(PauseClient {
        client: "a".to_owned(),
    }))
    .await;
    assert_eq!(gate.state(), ClientState::Paused);
    bed.nemesis
        .heal("pause-client", "a")
        .await
        .expect("it can be resumed");
    assert_eq!(gate.pass().await, Ok(()), "a resumed client goes on");
    let death = KillClient {
        client: "a".to_owned(),
        after_commands: None,
    };
    bed.inject(FaultSpec::KillClient(death)).await;
    assert!(gate.pass().await.is_err(), "a dead client does nothing");
    assert_eq!(bed.servers.clients().state("a"), Some(ClientState::Dead));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fault_on_something_that_is_not_there_says_so() {
    if !have_server() {
        return;
    }
    let mut bed = bed(single(Persistence::None), false).await;
    let unknown = bed
        .nemesis
        .inject(&kill("n7"))
        .await
        .expect_err("there is no such node");
    assert!(unknown.to_string().contains("no node 'n7'"), "{unknown}");
    let cut = scenarios::Cut {
        from: "a".into(),
        to: "primary".into(),
        mode: CutMode::Stall,
    };
    let no_fabric = bed
        .nemesis
        .inject(&FaultSpec::Cut(cut))
        .await
        .expect_err("no fabric");
    assert!(
        no_fabric.to_string().contains("no switchable network"),
        "{no_fabric}"
    );
}
