//! Time that servers take: to be up and proven ready, to replace a primary that was killed, and to
//! be gone.
//!
//! Every trial has fresh servers. A failover is timed from the SIGKILL: until another server takes
//! a write to the key (of an ensemble, until another leads), and until everybody whom a client may
//! ask names that server. A replica that does not take over by itself is promoted at once.

use std::time::{Duration, Instant};

use lockstorm_harness::server::{DEFAULT_PORT, ServerSettings, Servers, Wiring, find_program};
use lockstorm_nemesis::Deployment as _;
use lockstorm_scenarios::{Topology, load_str};
use tempfile::TempDir;
use tokio::time::{sleep, timeout};

/// Fresh servers of each kind.
const TRIALS: usize = 10;
/// Between two looks.
const POLL: Duration = Duration::from_millis(5);
/// A failover that takes longer has failed.
const WITHIN: Duration = Duration::from_secs(30);
/// The key that is written.
const KEY: &str = "lock";
/// As scenario files name them, each with a lock that fits.
const TOPOLOGIES: [(&str, &str); 9] = [
    ("single = {}", "token"),
    ("replicated = {}", "token"),
    ("independent = {}", "redlock"),
    ("sentinel.replicas = 2", "token"),
    ("cluster = {}", "token"),
    ("etcd = {}", "etcd-mutex"),
    ("zookeeper = {}", "zookeeper-mutex"),
    ("postgres = {}", "postgres-advisory"),
    ("mariadb = {}", "mysql-get-lock"),
];

fn main() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be started");
    runtime.block_on(measure());
}

async fn measure() {
    println!("seconds, min / median / max of {TRIALS} trials");
    println!(
        "{:32} {:20} {:20} {:20} gone",
        "servers", "ready", "killed: another writes", "all agree"
    );
    for (servers, lock) in TOPOLOGIES {
        show(&topology(servers, lock)).await;
    }
}

/// Loads a topology as a scenario file means it.
fn topology(text: &str, lock: &str) -> Topology {
    let file = format!(
        "name = \"bench\"\ntopology.{text}\nlock.{lock} = {{}}\n[[step]]\nacquire.client = \"a\"\n"
    );
    let loaded = load_str(&file, "bench.toml", &[]).expect("the scenario is right");
    loaded.scenario.topology.expect("it names its servers")
}

async fn show(topology: &Topology) {
    let mut ready = Vec::new();
    let (mut written, mut agreed, mut gone) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..TRIALS {
        let (_folder, servers, took) = start(topology).await;
        ready.push(took);
        let replaced = timeout(WITHIN, replace(&servers, topology));
        let (write, agreement) = replaced.await.expect("another takes over");
        written.extend(write);
        agreed.extend(agreement);
        let begun = Instant::now();
        drop(servers);
        gone.push(begun.elapsed());
    }
    println!(
        "{:32} {:20} {:20} {:20} {}",
        topology.label(),
        spread(ready),
        spread(written),
        spread(agreed),
        spread(gone)
    );
}

async fn start(topology: &Topology) -> (TempDir, Servers, Duration) {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let begun = Instant::now();
    let servers = Servers::start(ServerSettings {
        topology: topology.clone(),
        program: find_program(None).expect("a redis-server is installed; see `make setup`"),
        port: DEFAULT_PORT,
        folder: folder.path().join("nodes"),
        wiring: Wiring::Direct,
        shim: false,
        spares: None,
    })
    .await
    .expect("the servers start");
    (folder, servers, begun.elapsed())
}

/// Kills who keeps the key, where another can take its place. Until that one takes writes, and
/// until all know it.
async fn replace(servers: &Servers, topology: &Topology) -> (Option<Duration>, Option<Duration>) {
    match topology {
        Topology::Sentinel(_) | Topology::Cluster(_) => {
            let (written, agreed) = failover(servers).await;
            (Some(written), Some(agreed))
        }
        Topology::Etcd(_) | Topology::Zookeeper(_) => {
            let (leads, agreed) = election(servers).await;
            (Some(leads), Some(agreed))
        }
        Topology::Replicated(_) | Topology::Postgres(_) | Topology::Mariadb(_) => {
            (Some(promotion(servers).await), None)
        }
        Topology::Single(_)
        | Topology::Independent(_)
        | Topology::Custom(_)
        | Topology::External(_) => (None, None),
    }
}

/// Kills the leader. Until another leads, and until all that are left follow it.
async fn election(servers: &Servers) -> (Duration, Duration) {
    let leader = servers.keepers(KEY).await.remove(0);
    let begun = Instant::now();
    servers.kill(&leader).await.expect("a server can be killed");
    let is_other = |leaders: Vec<String>| leaders.iter().any(|other| *other != leader);
    while !is_other(servers.keepers(KEY).await) {
        sleep(POLL).await;
    }
    let leads = begun.elapsed();
    servers.recover().await.expect("the others agree");
    (leads, begun.elapsed())
}

/// Kills the primary, and promotes its replica.
async fn promotion(servers: &Servers) -> Duration {
    let begun = Instant::now();
    servers
        .kill("primary")
        .await
        .expect("a server can be killed");
    let promoted = servers.promote("replica-1").await;
    promoted.expect("the replica takes over");
    begun.elapsed()
}

/// Kills who keeps the key. Until another server takes a write, and until all know it.
async fn failover(servers: &Servers) -> (Duration, Duration) {
    let leader = servers.keepers(KEY).await.remove(0);
    let begun = Instant::now();
    servers.kill(&leader).await.expect("a server can be killed");
    let heir = loop {
        let keepers = servers.keepers(KEY).await;
        let heir = keepers.into_iter().find(|keeper| *keeper != leader);
        if let Some(heir) = heir
            && servers.command(&heir, &["SET", KEY, "1"]).await.is_ok()
        {
            break heir;
        }
        sleep(POLL).await;
    };
    let written = begun.elapsed();
    while !servers.agree_on(KEY).await || servers.keepers(KEY).await != [heir.as_str()] {
        sleep(POLL).await;
    }
    (written, begun.elapsed())
}

fn spread(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let (Some(first), Some(last)) = (times.first(), times.last()) else {
        return "-".to_owned();
    };
    let median = times[times.len() / 2];
    let [first, median, last] = [first, &median, last].map(Duration::as_secs_f64);
    format!("{first:.2} / {median:.2} / {last:.2}")
}
