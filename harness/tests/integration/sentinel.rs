//! Real sentinels: up, agreed, failing over, and asked by clients.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::test_bed::{TestBed, spec};
use crate::support::{WITHIN, have_server};
use async_trait::async_trait;
use lockstorm_checker::history::{FailureNote, RouteNote};
use lockstorm_harness::client::AnyLock;
use lockstorm_harness::connection::Trail;
use lockstorm_harness::locks::{Lock as _, LockRequest, Outcome};
use lockstorm_nemesis::Deployment as _;
use lockstorm_scenarios::{Failover, FailoverMode, FaultSpec, Kill, Pause, Topology, load_str};
use tokio::time::{Instant, sleep};

/// Pause between two looks at an awaited condition.
const POLL: Duration = Duration::from_millis(20);
const SENTINELS: [&str; 3] = ["sentinel-1", "sentinel-2", "sentinel-3"];

/// The topology that a scenario file would name so.
fn topology(options: &str) -> Topology {
    let text = format!(
        "name = \"test\"\ntopology.sentinel = {{ {options} }}\nlock.token = {{}}\n\
         [[step]]\nacquire = {{ client = \"a\" }}\n"
    );
    let loaded = load_str(&text, "test", &[]).expect("the options are as they should be");
    loaded.scenario.topology.expect("a topology is named")
}

async fn eventually<F: Future<Output = bool>>(what: &str, mut condition: impl FnMut() -> F) {
    let deadline = Instant::now() + WITHIN;
    while !condition().await {
        assert!(Instant::now() < deadline, "not within {WITHIN:?}: {what}");
        sleep(POLL).await;
    }
}

/// Waits until all sentinels name this node, and it is a primary.
async fn led_by(bed: &TestBed, node: &str) {
    let servers = &bed.servers;
    let known = servers.nodes().iter().find(|known| known.name == node);
    let public = known.expect("there is such a node").public;
    let named = format!("{}\n{}", public.ip(), public.port());
    eventually(&format!("{node} leads"), async || {
        let ask = ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", "mymaster"];
        for sentinel in SENTINELS {
            if servers.command(sentinel, &ask).await.ok() != Some(named.clone()) {
                return false;
            }
        }
        role(bed, node).await == "master"
    })
    .await;
    assert_eq!(servers.writable().await, [node]);
}

/// Role of a node, in its own words.
async fn role(bed: &TestBed, node: &str) -> String {
    let role = bed.servers.command(node, &["ROLE"]).await;
    let role = role.unwrap_or_default();
    role.lines().next().unwrap_or_default().to_owned()
}

fn kill(node: &str) -> FaultSpec {
    FaultSpec::Kill(Kill { node: node.into() })
}

fn pause(node: &str) -> FaultSpec {
    FaultSpec::Pause(Pause { node: node.into() })
}

/// Keeps what it is told.
#[derive(Default)]
struct Kept(Mutex<Vec<RouteNote>>);

#[async_trait]
impl Trail for Kept {
    async fn routed(&self, note: RouteNote) {
        self.0.lock().expect("nobody panics here").push(note);
    }

    async fn failed(&self, note: FailureNote) {
        panic!("no client fails here: {note:?}");
    }
}

impl Kept {
    /// Each turn as `from>to`, with its reason.
    fn turns(&self) -> Vec<(String, String)> {
        let notes = self.0.lock().expect("nobody panics here");
        let turn = |note: &RouteNote| {
            let from = note.from.as_deref().unwrap_or_default();
            (format!("{from}>{}", note.to), note.why.to_string())
        };
        notes.iter().map(turn).collect()
    }
}

/// A client whose turns are kept.
fn client(bed: &TestBed, lock: &str) -> (AnyLock, Arc<Kept>) {
    let kept = Arc::new(Kept::default());
    let context = bed.context_with(0, kept.clone());
    let lock = AnyLock::new(&spec(lock), context);
    (lock.expect("it is one of our own"), kept)
}

/// Asks for a key of its own again and again until it is granted; gives all other answers.
async fn until_granted(lock: &mut AnyLock, key: &str) -> Vec<Outcome<()>> {
    let deadline = Instant::now() + WITHIN;
    let mut before = Vec::new();
    loop {
        match lock.acquire(key, LockRequest::default()).await {
            Outcome::Done(_) => return before,
            Outcome::Denied => before.push(Outcome::Denied),
            Outcome::Failed(text) => before.push(Outcome::Failed(text)),
            Outcome::Unknown(text) => before.push(Outcome::Unknown(text)),
            Outcome::Killed => panic!("nobody kills this client"),
        }
        assert!(Instant::now() < deadline, "never granted: {before:?}");
        sleep(POLL).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_primary_that_dies_is_replaced_and_comes_back_as_a_replica() {
    if !have_server() {
        return;
    }
    for fabric in [false, true] {
        let mut bed = TestBed::new(topology("replicas = 2"), fabric).await;
        assert_eq!(bed.servers.writable().await, ["primary"]);
        let dead = bed.nemesis.inject(&kill("primary")).await;
        let dead = dead.expect("it is killed");
        eventually("a replica leads", async || {
            bed.servers.writable().await != ["primary"]
        })
        .await;
        let leader = bed.servers.writable().await.remove(0);
        led_by(&bed, &leader).await;
        bed.nemesis.heal_id(&dead).await.expect("it starts again");
        eventually("the former primary follows", async || {
            role(&bed, "primary").await == "slave"
        })
        .await;
        assert_eq!(bed.servers.writable().await, [leader]);
    }
}

/// Nobody asks the old primary: for a while there are two.
#[tokio::test(flavor = "multi_thread")]
async fn a_planned_failover_leaves_two_primaries_until_the_old_one_is_told() {
    if !have_server() {
        return;
    }
    let mut bed = TestBed::new(topology("timers = \"stock\""), false).await;
    let failover = FaultSpec::Failover(Failover {
        node: "replica-1".into(),
        mode: FailoverMode::Agreed,
    });
    bed.nemesis.inject(&failover).await.expect("it takes over");
    assert_eq!(bed.servers.writable().await, ["replica-1"]);
    for node in ["primary", "replica-1"] {
        let taken = bed.servers.command(node, &["SET", "lock", node]).await;
        assert_eq!(taken.ok().as_deref(), Some("OK"), "{node}");
    }
    let recovered = bed.servers.recover().await;
    assert_eq!(recovered, Ok(()), "the old one is told in the end");
    assert_eq!(role(&bed, "primary").await, "slave");
}

/// Sentinels keep what they agreed on; sharp timers are told to each anew.
#[tokio::test(flavor = "multi_thread")]
async fn a_sentinel_that_was_killed_comes_back_knowing_the_new_primary() {
    if !have_server() {
        return;
    }
    let mut bed = TestBed::new(topology(""), false).await;
    let watcher = bed.nemesis.inject(&kill("sentinel-1")).await;
    let watcher = watcher.expect("it is killed");
    bed.nemesis.inject(&kill("primary")).await.expect("dies");
    eventually("the replica leads", async || {
        bed.servers.writable().await == ["replica-1"]
    })
    .await;
    bed.nemesis.heal_id(&watcher).await.expect("it is back");
    led_by(&bed, "replica-1").await;
    let period = bed.servers.command("sentinel-1", &["SENTINEL", "DEBUG"]);
    let period = period.await.expect("it tells its periods");
    assert!(period.contains("PING-PERIOD\n200"), "{period}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_asks_the_sentinels_once_its_connection_is_lost() {
    if !have_server() {
        return;
    }
    let mut bed = TestBed::new(topology(""), false).await;
    let (mut lock, kept) = client(&bed, "token = { lease = \"30s\" }");
    assert_eq!(until_granted(&mut lock, "before").await, []);
    bed.nemesis.inject(&kill("primary")).await.expect("dies");
    led_by(&bed, "replica-1").await;
    let first = lock.acquire("after", LockRequest::default()).await;
    assert!(
        matches!(first, Outcome::Unknown(_)),
        "a lost command is not sent again: {first:?}"
    );
    until_granted(&mut lock, "after").await;
    let turns = kept.turns();
    let [(to, first), (there, then)] = turns.as_slice() else {
        panic!("two turns, not {turns:?}");
    };
    assert_eq!(
        (to.as_str(), there.as_str()),
        (">primary", "primary>replica-1")
    );
    assert!(first.starts_with("first use; sentinel-"), "{first}");
    assert!(then.ends_with(" names it"), "{then}");
}

/// A demotion that closes no connection, as by an operator's hand.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_refuses_writes_is_asked_once_and_then_doubted() {
    if !have_server() {
        return;
    }
    let bed = TestBed::new(topology("replicas = 2"), false).await;
    let (mut lock, kept) = client(&bed, "token = { lease = \"30s\" }");
    assert_eq!(until_granted(&mut lock, "before").await, []);
    let other = bed.servers.nodes()[1].public;
    let (ip, port) = (other.ip().to_string(), other.port().to_string());
    let demote = ["REPLICAOF", ip.as_str(), port.as_str()];
    let demoted = bed.servers.command("primary", &demote).await;
    demoted.expect("it follows its replica");
    let before = until_granted(&mut lock, "after").await;
    assert!(
        matches!(&before[0], Outcome::Failed(text) if text.starts_with("READONLY")),
        "{before:?}"
    );
    let (_, why) = kept.turns().remove(1);
    assert!(why.starts_with("primary is read-only; "), "{why}");
}

/// The old primary stands still and closes nothing: only a client that goes on asking learns of it.
#[tokio::test(flavor = "multi_thread")]
async fn who_asks_every_second_turns_and_who_does_not_goes_on_asking_the_old_primary() {
    if !have_server() {
        return;
    }
    let mut bed = TestBed::new(topology(""), false).await;
    let (mut scans, kept) = client(&bed, "redisson = { lease = \"30s\", sync = \"off\" }");
    let mut asks = bed.client(1, "token = { lease = \"30s\" }");
    assert_eq!(until_granted(&mut scans, "a").await, []);
    assert_eq!(until_granted(&mut asks, "b").await, []);
    bed.nemesis.inject(&pause("primary")).await.expect("stops");
    led_by(&bed, "replica-1").await;
    let lost = asks.acquire("c", LockRequest::default()).await;
    assert!(matches!(lost, Outcome::Unknown(_)), "{lost:?}");
    until_granted(&mut scans, "d").await;
    let turns = kept.turns();
    assert!(
        turns
            .iter()
            .any(|(turn, why)| turn == "primary>replica-1"
                && why.starts_with("it asks every second; ")),
        "{turns:?}"
    );
}
