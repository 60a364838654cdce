//! One server, the real Redisson, and our clients.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use lockstorm_harness::client::AnyLock;
use lockstorm_harness::connection::{Connection, Dialer, LateReply, NoTrail};
use lockstorm_harness::locks::{LockContext, SharedState};
use lockstorm_harness::seed::Seed;
use lockstorm_harness::server::Servers;
use lockstorm_scenarios::{Era, Persistence, Single, Topology};
use redis::{Cmd, Value};
use tempfile::TempDir;

use super::kind::Kind;
use super::kit::{class_path, version};
use super::peer::Peer;
use crate::support::{WITHIN, have_server, servers};

/// A lease that no test lives to see the end of: what happens sooner has another reason.
pub const LONG: Duration = Duration::from_secs(600);

/// How often a condition is looked at.
pub const POLL: Duration = Duration::from_millis(5);

/// Where both sides meet; ends with this value.
pub struct TestBed {
    /// That of the Redisson here, and of our locks.
    pub era: Era,
    pub peer: Arc<Peer>,
    pub servers: Servers,
    pub folder: TempDir,
    clients: AtomicUsize,
}

impl TestBed {
    /// A new server and a new Redisson, or `None` and a word where they cannot be had.
    pub async fn prepare(era: Era) -> Option<Self> {
        if !have_server() {
            return None;
        }
        let class_path = class_path(version(era))?;
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let single = Topology::Single(Single {
            persistence: Persistence::None,
        });
        let servers = servers(single, false, folder.path()).await;
        let address = servers.nodes()[0].public;
        let peer = Peer::start(&class_path, address, LONG, folder.path());
        Some(Self {
            era,
            peer: Arc::new(peer),
            servers,
            folder,
            // The first is whoever looks on.
            clients: AtomicUsize::new(1),
        })
    }

    /// Where histories go.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Dialer with which our client `name`, number `n`, opens connections.
    pub fn dialer(&self, name: &str, n: usize) -> Dialer {
        Dialer {
            source: self.servers.introduce_client(name, n),
            gate: self.servers.registry().register(name),
            reply_timeout: WITHIN,
            batch_timeout: Duration::ZERO,
            late: LateReply::Closes,
            trail: Arc::new(NoTrail),
            commands: &[],
        }
    }

    /// Our client's side of a lock.
    pub fn lock(&self, kind: Kind, lease: Duration, permits: u32, name: &str, n: usize) -> AnyLock {
        let context = LockContext {
            client: name.to_owned(),
            dialer: self.dialer(name, n),
            route: self.servers.route(),
            shared: SharedState::default(),
            rng: Seed(n as u64).stream(name),
        };
        AnyLock::new(&kind.spec(self.era, lease, permits), context).expect("it is one of ours")
    }

    /// The number of a client that comes into being now.
    pub fn next_client(&self) -> usize {
        self.clients.fetch_add(1, Ordering::Relaxed)
    }

    /// The server's reply to a command of nobody's.
    pub async fn command(&self, args: &[&str]) -> Value {
        let mut connection = Connection::new(
            self.dialer("onlooker", 0),
            "primary",
            self.servers.nodes()[0].public,
        );
        let mut command = Cmd::new();
        for arg in args {
            command.arg(arg);
        }
        connection
            .call(&command)
            .await
            .expect("the server answers an onlooker")
    }
}

/// A reply that is text, or a number.
pub fn text(reply: &Value) -> String {
    match reply {
        Value::BulkString(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::SimpleString(text) | Value::VerbatimString { text, .. } => text.clone(),
        Value::Int(number) => number.to_string(),
        odd => panic!("it is no text: {odd:?}"),
    }
}
