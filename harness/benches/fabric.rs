//! Cost of the fabric where it is in the path: a round trip, and cycles of acquire and release per
//! second of 1, 10 and 50 clients, past it and through it.
//!
//! Both ways lead to one server, by its private and by its public address, with the same loop: one
//! connection and one key for each client, `SET NX PX`, then the script that deletes the key if
//! the value is still ours. They take turns, so that a machine whose speed drifts is unfair to
//! neither.

use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use lockstorm_harness::connection::Wire;
use lockstorm_harness::locks::{delete_if_equal, set_if_absent};
use lockstorm_harness::server::{DEFAULT_PORT, ServerSettings, Servers, Wiring, find_program};
use lockstorm_scenarios::{Single, Topology};
use tokio::net::TcpSocket;
use tokio::task::JoinSet;

/// Pairs of turns for each number of clients.
const PAIRS: usize = 10;
/// Length of one turn.
const TURN: Duration = Duration::from_secs(1);
/// Far beyond a cycle, so that no lease ends.
const LEASE: Duration = Duration::from_secs(10);

fn main() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be started");
    runtime.block_on(measure());
}

/// The two ways to the server.
struct Ways {
    servers: Servers,
    past: SocketAddr,
    through: SocketAddr,
}

async fn measure() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let servers = Servers::start(ServerSettings {
        topology: Topology::Single(Single::default()),
        program: find_program(None).expect("a redis-server is installed; see `make setup`"),
        port: DEFAULT_PORT,
        folder: folder.path().join("nodes"),
        wiring: Wiring::Fabric {
            reads_messages: false,
        },
        shim: false,
        spares: None,
    })
    .await
    .expect("a server starts");
    let node = &servers.nodes()[0];
    let ways = Ways {
        past: node.private,
        through: node.public,
        servers,
    };
    println!(
        "way      clients  round trip µs: median    p99  cycles/s  (medians of {PAIRS} turns)"
    );
    for clients in [1, 10, 50] {
        compare(&ways, clients).await;
    }
}

/// Figures of one turn.
struct Turn {
    cycles_per_second: f64,
    median: Duration,
    p99: Duration,
}

async fn compare(ways: &Ways, clients: usize) {
    let (mut past, mut through) = (Vec::new(), Vec::new());
    for pair in 0..PAIRS {
        // Each goes first as often as the other: whoever comes second finds a warmer server.
        if pair % 2 == 0 {
            past.push(turn(ways, ways.past, clients).await);
            through.push(turn(ways, ways.through, clients).await);
        } else {
            through.push(turn(ways, ways.through, clients).await);
            past.push(turn(ways, ways.past, clients).await);
        }
    }
    let ratios = past.iter().zip(&through);
    let ratios = ratios.map(|(past, through)| through.cycles_per_second / past.cycles_per_second);
    let ratio = median(ratios.collect());
    show("past", clients, &past);
    show("through", clients, &through);
    println!("         cycles through it over cycles past it, median of {PAIRS} pairs: {ratio:.2}");
}

fn show(way: &str, clients: usize, turns: &[Turn]) {
    let micros = |of: fn(&Turn) -> Duration| {
        let all = turns.iter().map(|turn| of(turn).as_secs_f64() * 1e6);
        median(all.collect())
    };
    let cycles = median(turns.iter().map(|turn| turn.cycles_per_second).collect());
    println!(
        "{way:7}  {clients:7}  {:21.0}  {:5.0}  {cycles:8.0}",
        micros(|turn| turn.median),
        micros(|turn| turn.p99),
    );
}

/// All clients at work for the length of a turn.
async fn turn(ways: &Ways, address: SocketAddr, clients: usize) -> Turn {
    let mut tasks = JoinSet::new();
    let start = Instant::now();
    for n in 0..clients {
        let source = ways.servers.introduce_client(&format!("c{n}"), n);
        tasks.spawn(work(n, source, address, start));
    }
    let mut trips = Vec::new();
    while let Some(own) = tasks.join_next().await {
        trips.extend(own.expect("no client panics"));
    }
    let took = start.elapsed().as_secs_f64();
    trips.sort_unstable();
    Turn {
        // A cycle is two round trips.
        cycles_per_second: trips.len() as f64 / 2.0 / took,
        median: trips[trips.len() / 2],
        p99: trips[trips.len() * 99 / 100],
    }
}

/// Cycles of one client until the turn is over: the time of each round trip.
async fn work(n: usize, source: IpAddr, address: SocketAddr, start: Instant) -> Vec<Duration> {
    let socket = TcpSocket::new_v4().expect("a socket can be made");
    socket
        .bind((source, 0).into())
        .expect("the address is free");
    let stream = socket.connect(address).await.expect("the server is up");
    stream.set_nodelay(true).expect("a connected socket");
    let mut wire = Wire::new(stream);
    let key = format!("lock-{n}");
    let mut trips = Vec::new();
    let mut cycles = 0_u64;
    while start.elapsed() < TURN {
        let value = format!("{n:016x}{cycles:016x}");
        for command in [
            set_if_absent(&key, &value, LEASE),
            delete_if_equal(&key, &value),
        ] {
            let sent = Instant::now();
            let reply = wire.send(&command).await.expect("the server answers");
            trips.push(sent.elapsed());
            assert_ne!(reply, redis::Value::Nil, "nobody else wants this key");
        }
        cycles += 1;
    }
    trips
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
