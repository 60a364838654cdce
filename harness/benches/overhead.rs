//! Cost of recording: cycles of acquire and release per second, of 1, 10 and 50 clients on the
//! `token` lock over one server, through Lockstorm and on the bare redis crate.
//!
//! Both sides do the same: one connection and one key for each client, `SET NX PX`, then the
//! script of the lock. They take turns, so that a machine whose speed drifts is unfair to
//! neither; medians are printed, and the ratio pair by pair. The history of the last turn is
//! checked at the end: a fast recorder of nonsense would show there.

use std::sync::Arc;
use std::time::{Duration, Instant};

use lockstorm_checker::history::{Header, Name, read_jsonl};
use lockstorm_checker::{Options, check};
use lockstorm_harness::client::{AnyLock, Session, SessionParts};
use lockstorm_harness::clock::RunClock;
use lockstorm_harness::connection::{Dialer, Gate, LateReply, NoTrail};
use lockstorm_harness::locks::{
    LockContext, LockRequest, SharedState, delete_if_equal, set_if_absent,
};
use lockstorm_harness::recorder::Recorder;
use lockstorm_harness::seed::Seed;
use lockstorm_harness::server::{DEFAULT_PORT, ServerSettings, Servers, Wiring, find_program};
use lockstorm_scenarios::{DurationSpec, Lock, Single, Token, Topology};
use tokio::task::JoinSet;

/// Pairs of turns for each number of clients.
const PAIRS: usize = 20;
/// Length of one turn.
const TURN: Duration = Duration::from_secs(1);
/// Far beyond a cycle, so that no lease ends.
const LEASE: Duration = Duration::from_secs(10);

fn main() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be started");
    runtime.block_on(async {
        println!("clients  bare cycles/s  lockstorm cycles/s  ratio (median of {PAIRS} pairs)");
        for clients in [1, 10, 50] {
            compare(clients).await;
        }
    });
}

async fn compare(clients: usize) {
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
    let history = folder.path().join("history.jsonl");
    let (mut bare, mut recorded, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for pair in 0..PAIRS {
        // Each goes first as often as the other: whoever comes second finds a warmer server.
        let first = if pair % 2 == 0 {
            bare_turn(&servers, clients).await
        } else {
            0.0
        };
        let with = recorded_turn(&servers, clients, &history).await;
        let without = if pair % 2 == 0 {
            first
        } else {
            bare_turn(&servers, clients).await
        };
        bare.push(without);
        recorded.push(with);
        ratios.push(with / without);
    }
    println!(
        "{clients:7}  {:13.0}  {:18.0}  {:.3}",
        median(bare),
        median(recorded),
        median(ratios)
    );
    let start = Instant::now();
    let file = std::fs::File::open(&history).expect("the history was written");
    let read = read_jsonl(std::io::BufReader::new(file), "history").expect("and can be read");
    let analysis = check(&read, &Options::default());
    println!(
        "         last turn checked: {} events, {} grants, {} in {:.2} s",
        analysis.coverage.events,
        analysis.coverage.granted,
        analysis.verdict,
        start.elapsed().as_secs_f64()
    );
}

/// The loop as anyone would write it with the redis crate.
async fn bare_turn(servers: &Servers, clients: usize) -> f64 {
    let address = servers.nodes()[0].public;
    let mut tasks = JoinSet::new();
    let start = Instant::now();
    for n in 0..clients {
        tasks.spawn(async move {
            let client = redis::Client::open(format!("redis://{address}")).expect("a right URL");
            let mut connection = client
                .get_multiplexed_async_connection()
                .await
                .expect("the server is up");
            let key = format!("lock-{n}");
            let mut cycles = 0_u64;
            while start.elapsed() < TURN {
                let value = format!("{n:016x}{cycles:016x}");
                let granted: Option<String> = set_if_absent(&key, &value, LEASE)
                    .query_async(&mut connection)
                    .await
                    .expect("the server answers");
                assert!(granted.is_some(), "nobody else wants this key");
                let released: i64 = delete_if_equal(&key, &value)
                    .query_async(&mut connection)
                    .await
                    .expect("the server answers");
                assert_eq!(released, 1, "nobody else has released it");
                cycles += 1;
            }
            cycles
        });
    }
    per_second(tasks, start).await
}

/// Runs the loop through a session that records every event.
async fn recorded_turn(servers: &Servers, clients: usize, history: &std::path::Path) -> f64 {
    let recorder = Recorder::start(history, &Header::new(), RunClock::start())
        .expect("the history can be written");
    let lock = Lock::Token(Token {
        lease: DurationSpec(LEASE),
        renew_every: None,
        mutant: None,
    });
    let mut tasks = JoinSet::new();
    let mut sessions: Vec<_> = (0..clients)
        .map(|n| session(servers, &lock, n, clients, &recorder))
        .collect();
    let start = Instant::now();
    for (n, mut session) in sessions.drain(..).enumerate() {
        let key: Name = format!("lock-{n}").into();
        tasks.spawn(async move {
            let mut cycles = 0_u64;
            while start.elapsed() < TURN {
                session.acquire(&key, LockRequest::default()).await;
                session.release(&key, LockRequest::default()).await;
                cycles += 1;
            }
            cycles
        });
    }
    let rate = per_second(tasks, start).await;
    recorder.finish().await.expect("the history is complete");
    rate
}

fn session(
    servers: &Servers,
    lock: &Lock,
    n: usize,
    clients: usize,
    recorder: &Recorder,
) -> Session {
    let name = format!("c{n}");
    let gate: Arc<Gate> = Arc::default();
    let dialer = Dialer {
        source: servers.introduce_client(&name, n),
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
        route: servers.route(),
        shared: SharedState::default(),
        rng: Seed(1).stream(&name),
    };
    Session::new(SessionParts {
        name: name.as_str().into(),
        process: n as u64,
        clients: clients as u64,
        lock: AnyLock::new(lock, context).expect("it is one of ours"),
        gate,
        lease: Some(LEASE),
        until: None,
        renew_every: None,
        lacks_watchdog: false,
        renews_unseen: false,
        renews_on: false,
        sink: recorder.sink(),
        rng: Seed(2).stream(&name),
        job: None,
    })
}

async fn per_second(mut tasks: JoinSet<u64>, start: Instant) -> f64 {
    let mut cycles = 0;
    while let Some(count) = tasks.join_next().await {
        cycles += count.expect("no client panics");
    }
    cycles as f64 / start.elapsed().as_secs_f64()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
