//! Servers, a nemesis to break them, and what it notes.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use lockstorm_checker::history::{FaultNote, FaultPhase};
use lockstorm_harness::seed::Seed;
use lockstorm_harness::server::Servers;
use lockstorm_nemesis::{Nemesis, NoteSink};
use lockstorm_scenarios::{
    FaultSpec, Kill, Memory, Persistence, Replicated, Restart, Single, Topology,
};
use tokio::time::{Instant, sleep};

use crate::support::{WITHIN, servers, servers_with_shim};

/// Keeps the notes, as the recorder would.
#[derive(Default)]
pub(crate) struct Notes(Mutex<Vec<FaultNote>>);

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
    pub(crate) fn phases(&self) -> Vec<FaultPhase> {
        let notes = self.0.lock().expect("no test thread panics with it");
        notes.iter().map(|note| note.phase).collect()
    }
}

/// Servers, a nemesis to break them, and its notes; the folder lives as long.
pub(crate) struct TestBed {
    pub(crate) servers: Arc<Servers>,
    pub(crate) nemesis: Nemesis,
    pub(crate) notes: Arc<Notes>,
    _folder: tempfile::TempDir,
}

pub(crate) async fn bed(topology: Topology, fabric: bool) -> TestBed {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let servers = servers(topology, fabric, folder.path()).await;
    with(servers, folder)
}

/// Starts servers and a nemesis that has its hands on their clocks and disks.
pub(crate) async fn bed_with_shim(topology: Topology) -> TestBed {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let servers = servers_with_shim(topology, folder.path()).await;
    with(servers, folder)
}

fn with(servers: Servers, folder: tempfile::TempDir) -> TestBed {
    let servers = Arc::new(servers);
    let notes = Arc::new(Notes::default());
    let nemesis = Nemesis::new(servers.clone(), notes.clone(), Seed(1).stream("lots"));
    TestBed {
        servers,
        nemesis,
        notes,
        _folder: folder,
    }
}

impl TestBed {
    pub(crate) async fn ask(&self, node: &str, args: &[&str]) -> Result<String, String> {
        self.servers
            .command(node, args)
            .await
            .map_err(|error| error.to_string())
    }

    /// Asks again and again until the reply is as it should be; no reply at all is no such reply.
    pub(crate) async fn until(&self, node: &str, args: &[&str], right: impl Fn(&str) -> bool) {
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

    pub(crate) async fn inject(&mut self, fault: FaultSpec) {
        self.nemesis
            .inject(&fault)
            .await
            .expect("the fault is injected and observed");
    }
}

pub(crate) fn single(persistence: Persistence) -> Topology {
    Topology::Single(Single { persistence })
}

pub(crate) fn replicated() -> Topology {
    Topology::Replicated(Replicated {
        replicas: 1,
        ..Replicated::default()
    })
}

pub(crate) fn kill(node: &str) -> FaultSpec {
    FaultSpec::Kill(Kill {
        node: node.to_owned(),
    })
}

pub(crate) fn restart(memory: Memory) -> FaultSpec {
    FaultSpec::Restart(Restart {
        node: "primary".to_owned(),
        memory,
    })
}

/// Pause between two looks at an awaited condition.
pub(crate) const POLL: Duration = Duration::from_millis(10);

pub(crate) const WHOLE_LIFE: [FaultPhase; 4] = [
    FaultPhase::Requested,
    FaultPhase::Injected,
    FaultPhase::Observed,
    FaultPhase::Healed,
];
