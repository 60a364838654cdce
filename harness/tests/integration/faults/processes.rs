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

use crate::faults::ground::{WHOLE_LIFE, ground, kill, replicated, restart, single};
use crate::support::have_server;

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_server_is_gone_and_comes_back_when_healed() {
    if !have_server() {
        return;
    }
    let mut ground = ground(single(Persistence::None), false).await;
    ground.inject(kill("primary")).await;
    assert_eq!(ground.servers.pid("primary"), None);
    assert!(
        ground.ask("primary", &["PING"]).await.is_err(),
        "a dead server answers nobody"
    );
    ground
        .nemesis
        .heal("kill", "primary")
        .await
        .expect("it can be started again");
    assert_eq!(
        ground.ask("primary", &["PING"]).await.as_deref(),
        Ok("PONG")
    );
    assert_eq!(ground.notes.phases(), WHOLE_LIFE);
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
        let mut ground = ground(single(Persistence::Rdb), false).await;
        ground
            .ask("primary", &["SET", "lock", "a"])
            .await
            .expect("the server answers");
        ground.inject(fault).await;
        assert_eq!(ground.servers.pid("primary"), None);
        ground
            .nemesis
            .heal(kind, "primary")
            .await
            .expect("it can be started again");
        let key = ground.ask("primary", &["EXISTS", "lock"]).await;
        assert_eq!(key.as_deref(), Ok(kept), "{kind}");
        assert_eq!(ground.notes.phases(), WHOLE_LIFE);
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
        let mut ground = ground(single(persistence), false).await;
        ground
            .ask("primary", &["SET", "lock", "a"])
            .await
            .expect("the server answers");
        let before = ground.servers.pid("primary");
        ground.inject(restart(memory)).await;
        assert_ne!(
            ground.servers.pid("primary"),
            before,
            "another process answers now"
        );
        let left = ground.ask("primary", &["EXISTS", "lock"]).await;
        assert_eq!(left.as_deref(), Ok(kept), "{persistence:?}, {memory:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_snapshot_survives_a_restart_once_it_is_written() {
    if !have_server() {
        return;
    }
    let mut ground = ground(single(Persistence::Rdb), false).await;
    ground
        .ask("primary", &["SET", "lock", "a"])
        .await
        .expect("the server answers");
    // `save 1 1` writes within about a second; until then a kill loses the key.
    ground
        .until("primary", &["INFO", "persistence"], |info| {
            info.contains("rdb_changes_since_last_save:0")
        })
        .await;
    ground.inject(restart(Memory::Kept)).await;
    assert_eq!(
        ground.ask("primary", &["EXISTS", "lock"]).await.as_deref(),
        Ok("1")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_server_is_silent_until_it_is_resumed() {
    if !have_server() {
        return;
    }
    let mut ground = ground(single(Persistence::None), false).await;
    ground
        .inject(FaultSpec::Pause(Pause {
            node: "primary".to_owned(),
        }))
        .await;
    assert!(
        ground.servers.pid("primary").is_some(),
        "a paused server is alive"
    );
    assert!(
        ground.ask("primary", &["PING"]).await.is_err(),
        "and says nothing"
    );
    ground
        .nemesis
        .heal("pause", "primary")
        .await
        .expect("it can be resumed");
    assert_eq!(
        ground.ask("primary", &["PING"]).await.as_deref(),
        Ok("PONG")
    );
    assert_eq!(ground.notes.phases(), WHOLE_LIFE);
}

/// A write on the primary does not reach the replica while the link is cut, and does afterwards:
/// the cut acts on replication itself, and heals without loss.
#[tokio::test(flavor = "multi_thread")]
async fn a_stalled_replication_link_holds_writes_back_until_it_heals() {
    if !have_server() {
        return;
    }
    let mut ground = ground(replicated(), true).await;
    let cut = Cut {
        from: "primary".into(),
        to: "replicas".into(),
        mode: CutMode::Stall,
    };
    ground.inject(FaultSpec::Cut(cut)).await;
    // WAIT gives the replica all the time it would have needed, and counts who got the write; it
    // counts the writes of its own connection.
    let address = ground.servers.nodes()[0].private;
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
        ground
            .ask("replica-1", &["EXISTS", "lock"])
            .await
            .as_deref(),
        Ok("0")
    );
    let link = Link {
        from: "primary".into(),
        to: "replicas".into(),
    };
    ground
        .nemesis
        .heal_link(&link)
        .await
        .expect("the link heals");
    ground
        .until("replica-1", &["EXISTS", "lock"], |count| count == "1")
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reset_link_drops_the_connections_of_replication() {
    if !have_server() {
        return;
    }
    let mut ground = ground(replicated(), true).await;
    let cut = Cut {
        from: "primary".into(),
        to: "replicas".into(),
        mode: CutMode::Reset,
    };
    ground.inject(FaultSpec::Cut(cut)).await;
    ground
        .until("replica-1", &["INFO", "replication"], |info| {
            info.contains("master_link_status:down")
        })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_promoted_replica_takes_writes_and_clients_are_sent_there() {
    if !have_server() {
        return;
    }
    let mut ground = ground(replicated(), false).await;
    let refused = ground.ask("replica-1", &["SET", "lock", "a"]).await;
    let read_only = refused.is_err_and(|error| error.contains("read only"));
    assert!(read_only, "a replica takes no writes");
    ground.inject(kill("primary")).await;
    ground
        .inject(FaultSpec::Promote(Promote {
            node: "replica-1".to_owned(),
        }))
        .await;
    assert_eq!(
        ground
            .ask("replica-1", &["SET", "lock", "a"])
            .await
            .as_deref(),
        Ok("OK")
    );
    assert_eq!(ground.servers.writable().await, ["replica-1"]);
}

/// Unlike a promotion it loses nothing, and leaves one primary: the other one follows it.
#[tokio::test(flavor = "multi_thread")]
async fn a_planned_failover_hands_over_all_and_leaves_one_primary() {
    if !have_server() {
        return;
    }
    for mode in [FailoverMode::Agreed, FailoverMode::Force] {
        let mut ground = ground(replicated(), false).await;
        let written = ground.ask("primary", &["SET", "lock", "a"]).await;
        assert_eq!(written.as_deref(), Ok("OK"));
        let node = "replica-1".to_owned();
        ground
            .inject(FaultSpec::Failover(Failover { node, mode }))
            .await;
        assert_eq!(ground.servers.writable().await, ["replica-1"]);
        let kept = ground.ask("replica-1", &["GET", "lock"]).await;
        assert_eq!(kept.as_deref(), Ok("a"));
        let refused = ground.ask("primary", &["SET", "lock", "b"]).await;
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
    let mut ground = ground(topology, false).await;
    for node in ["n1", "n2", "n3"] {
        ground
            .ask(node, &["SET", "lock", "a"])
            .await
            .expect("the server answers");
    }
    ground
        .inject(FaultSpec::DeleteKey(DeleteKey {
            key: "lock".to_owned(),
            node: None,
        }))
        .await;
    for node in ["n1", "n2", "n3"] {
        assert_eq!(
            ground.ask(node, &["EXISTS", "lock"]).await.as_deref(),
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
    let mut ground = ground(single(Persistence::None), false).await;
    let fault = FaultSpec::DeleteKey(DeleteKey {
        key: "nothing".to_owned(),
        node: None,
    });
    let error = ground
        .nemesis
        .inject(&fault)
        .await
        .expect_err("nothing was there to delete");
    assert!(error.to_string().contains("no observed effect"), "{error}");
    assert!(!ground.notes.phases().contains(&FaultPhase::Observed));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_client_stands_still_and_a_killed_one_stays_dead() {
    if !have_server() {
        return;
    }
    let mut ground = ground(single(Persistence::None), false).await;
    let gate = ground.servers.registry().register("a");
    ground
        .inject(FaultSpec::PauseClient(PauseClient {
            client: "a".to_owned(),
        }))
        .await;
    assert_eq!(gate.state(), ClientState::Paused);
    ground
        .nemesis
        .heal("pause-client", "a")
        .await
        .expect("it can be resumed");
    assert_eq!(gate.pass().await, Ok(()), "a resumed client goes on");
    let death = KillClient {
        client: "a".to_owned(),
        after_commands: None,
    };
    ground.inject(FaultSpec::KillClient(death)).await;
    assert!(gate.pass().await.is_err(), "a dead client does nothing");
    assert_eq!(ground.servers.clients().state("a"), Some(ClientState::Dead));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fault_on_something_that_is_not_there_says_so() {
    if !have_server() {
        return;
    }
    let mut ground = ground(single(Persistence::None), false).await;
    let unknown = ground
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
    let no_fabric = ground
        .nemesis
        .inject(&FaultSpec::Cut(cut))
        .await
        .expect_err("no fabric");
    assert!(
        no_fabric.to_string().contains("no switchable network"),
        "{no_fabric}"
    );
}
