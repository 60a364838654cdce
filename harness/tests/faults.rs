//! Each fault against real servers: it must have the effect that it claims, seen from outside of
//! the nemesis, and its end must undo it. A fault that did nothing would fail here.

mod support;

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use lockstorm_checker::history::{FaultNote, FaultPhase};
use lockstorm_harness::client::Wire;
use lockstorm_harness::server::Servers;
use lockstorm_nemesis::{ClientState, Deployment as _, Nemesis, NoteSink};
use lockstorm_scenarios as scenarios;
use lockstorm_scenarios::{
    Cut, CutMode, DeleteKey, FaultSpec, Independent, Kill, KillClient, Link, Memory, Pause,
    PauseClient, Persistence, Promote, Replicated, Restart, Single, Topology,
};
use support::{WITHIN, have_server, servers};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep};

/// Keeps the notes, as the recorder would.
#[derive(Default)]
struct Notes(Mutex<Vec<FaultNote>>);

#[async_trait]
impl NoteSink for Notes {
    async fn note(&self, note: FaultNote) {
        self.0
            .lock()
            .expect("no test thread panics with it")
            .push(note);
    }
}

impl Notes {
    /// The stages that were noted, in order.
    fn phases(&self) -> Vec<FaultPhase> {
        let notes = self.0.lock().expect("no test thread panics with it");
        notes.iter().map(|note| note.phase).collect()
    }
}

/// Servers, a nemesis to break them, and its notes; the folder lives as long.
struct Ground {
    servers: Arc<Servers>,
    nemesis: Nemesis,
    notes: Arc<Notes>,
    _folder: tempfile::TempDir,
}

async fn ground(topology: Topology, fabric: bool) -> Ground {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let servers = Arc::new(servers(topology, fabric, folder.path()).await);
    let notes = Arc::new(Notes::default());
    let nemesis = Nemesis::new(servers.clone(), notes.clone());
    Ground {
        servers,
        nemesis,
        notes,
        _folder: folder,
    }
}

impl Ground {
    async fn ask(&self, node: &str, args: &[&str]) -> Result<String, String> {
        self.servers
            .command(node, args)
            .await
            .map_err(|error| error.to_string())
    }

    /// Asks again and again until the reply is as it should be; no reply at all is no such reply.
    async fn until(&self, node: &str, args: &[&str], right: impl Fn(&str) -> bool) {
        let deadline = Instant::now() + WITHIN;
        loop {
            let reply = self.ask(node, args).await;
            if reply.as_deref().is_ok_and(&right) {
                return;
            }
            assert!(
                Instant::now() < deadline,
                "{node} {args:?}: still {reply:?}"
            );
            sleep(POLL).await;
        }
    }

    async fn inject(&mut self, fault: FaultSpec) {
        self.nemesis
            .inject(&fault)
            .await
            .expect("the fault is injected and observed");
    }
}

fn single(persistence: Persistence) -> Topology {
    Topology::Single(Single { persistence })
}

fn replicated() -> Topology {
    Topology::Replicated(Replicated {
        replicas: 1,
        persistence: Persistence::None,
    })
}

fn kill(node: &str) -> FaultSpec {
    FaultSpec::Kill(Kill {
        node: node.to_owned(),
    })
}

fn restart(memory: Memory) -> FaultSpec {
    FaultSpec::Restart(Restart {
        node: "primary".to_owned(),
        memory,
    })
}

/// Pause between two looks at an awaited condition.
const POLL: std::time::Duration = std::time::Duration::from_millis(10);

const WHOLE_LIFE: [FaultPhase; 4] = [
    FaultPhase::Requested,
    FaultPhase::Injected,
    FaultPhase::Observed,
    FaultPhase::Healed,
];

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

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_key_is_gone_from_every_master() {
    if !have_server() {
        return;
    }
    let topology = Topology::Independent(Independent {
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
    let gate = ground.servers.roster().enrol("a");
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
