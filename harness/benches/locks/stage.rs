//! One server without faults, clients on it, and its round trip.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use lockstorm_checker::history::{Header, History, read_jsonl};
use lockstorm_harness::client::{AnyLock, Session, SessionParts};
use lockstorm_harness::clock::RunClock;
use lockstorm_harness::connection::{Dialer, Gate, LateReply, NoTrail, Wire};
use lockstorm_harness::locks::{LockContext, SharedState};
use lockstorm_harness::recorder::Recorder;
use lockstorm_harness::seed::Seed;
use lockstorm_harness::server::{DEFAULT_PORT, ServerSettings, Servers, Wiring, find_program};
use lockstorm_scenarios::{Lock, Single, Topology, load_str};
use tokio::net::TcpStream;

/// Round trips that are measured at a time.
const PINGS: usize = 2_000;

/// Round trips that are measured where there is a pause before each.
const IDLE_PINGS: usize = 200;

/// A server and where histories go.
pub struct Stage {
    pub servers: Servers,
    folder: tempfile::TempDir,
}

impl Stage {
    pub async fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let servers = Servers::start(ServerSettings {
            topology: Topology::Single(Single::default()),
            program: find_program(None).expect("a redis-server is installed; see `make setup`"),
            port: DEFAULT_PORT,
            folder: folder.path().join("nodes"),
            wiring: Wiring::Direct,
            shim: false,
            spares: None,
        })
        .await
        .expect("a server starts");
        Self { servers, folder }
    }

    /// A recorder for one turn; the history of the turn before is gone.
    pub fn recorder(&self) -> Recorder {
        Recorder::start(&self.history_path(), &Header::new(), RunClock::start())
            .expect("the history can be written")
    }

    /// Reads what the last recorder wrote.
    pub fn history(&self) -> History {
        let file = File::open(self.history_path()).expect("the history was written");
        read_jsonl(BufReader::new(file), "history").expect("and can be read")
    }

    fn history_path(&self) -> PathBuf {
        self.folder.path().join("history.jsonl")
    }

    /// Client number `n` of as many as `clients`, with a Redisson instance of its own.
    pub fn session(&self, lock: &Lock, n: usize, clients: usize, recorder: &Recorder) -> Session {
        self.thread(lock, n, clients, recorder, SharedState::default())
    }

    /// Client number `n`, as a thread of the instance that has the state `shared`.
    pub fn thread(
        &self,
        lock: &Lock,
        n: usize,
        clients: usize,
        recorder: &Recorder,
        shared: SharedState,
    ) -> Session {
        let name = format!("c{n}");
        let gate: Arc<Gate> = Arc::default();
        let dialer = Dialer {
            source: self.servers.introduce_client(&name, n),
            gate: gate.clone(),
            reply_timeout: Duration::from_secs(5),
            batch_timeout: Duration::ZERO,
            late: LateReply::Closes,
            trail: Arc::new(NoTrail),
            commands: &[],
        };
        let context = LockContext {
            client: name.clone(),
            dialer,
            route: self.servers.route(),
            shared,
            rng: Seed(1).stream(&name),
        };
        Session::new(SessionParts {
            name: name.as_str().into(),
            process: n as u64,
            clients: clients as u64,
            lock: AnyLock::new(lock, context).expect("it is one of ours"),
            gate,
            lease: lock.lease().map(|lease| lease.0),
            until: None,
            renew_every: lock.renew_every().map(|every| every.0),
            lacks_watchdog: false,
            renews_unseen: false,
            renews_on: false,
            sink: recorder.sink(),
            rng: Seed(2).stream(&name),
            job: None,
        })
    }

    /// A connection of no client.
    pub async fn wire(&self) -> Wire {
        let address = self.servers.nodes()[0].public;
        let stream = TcpStream::connect(address).await.expect("it is up");
        stream.set_nodelay(true).expect("an open connection");
        Wire::new(stream)
    }

    /// The round trip of a command that does nothing, one after the other, median, in microseconds.
    pub async fn round_trip_us(&self) -> f64 {
        let mut wire = self.wire().await;
        let mut times = Vec::with_capacity(PINGS);
        for _ in 0..PINGS {
            times.push(ping_us(&mut wire).await);
        }
        percentile(&mut times, 50)
    }

    /// Median round trip, in microseconds, of a client and a server that had nothing to do for a
    /// while before each: both have to be woken, which costs about as much as the rest.
    pub async fn round_trip_after_us(&self, idle: Duration) -> f64 {
        let mut wire = self.wire().await;
        let mut times = Vec::with_capacity(IDLE_PINGS);
        for _ in 0..IDLE_PINGS {
            pause(idle).await;
            times.push(ping_us(&mut wire).await);
        }
        percentile(&mut times, 50)
    }
}

/// The lock that a scenario file would name so.
pub fn lock(text: &str) -> Lock {
    let text = format!(
        "name = \"bench\"\ntopology.single = {{}}\nlock.{text}\n\
         [[step]]\nacquire = {{ client = \"a\" }}\n"
    );
    let loaded = load_str(&text, "bench", &[]).expect("the lock is written as it should be");
    loaded.scenario.lock.expect("a lock is named")
}

async fn ping_us(wire: &mut Wire) -> f64 {
    let sent = Instant::now();
    let reply = wire.send(&redis::cmd("PING")).await;
    let time = micros(sent.elapsed());
    reply.expect("the server answers");
    time
}

/// Waits off the runtime's clock, which counts whole milliseconds.
pub async fn pause(length: Duration) {
    let slept = tokio::task::spawn_blocking(move || thread::park_timeout(length));
    slept.await.expect("a pause does not panic");
}

pub fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// The value that `percent` of 100 are not above.
pub fn percentile(values: &mut [f64], percent: usize) -> f64 {
    values.sort_by(f64::total_cmp);
    values[(values.len() * percent / 100).min(values.len() - 1)]
}
