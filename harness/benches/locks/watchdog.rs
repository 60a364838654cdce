//! One client that holds 100,000 locks, and its watchdog.

use std::collections::HashMap;
use std::fs;
use std::time::{Duration, Instant};

use lockstorm_checker::history::{Event, Function, History, Kind, Name};
use lockstorm_harness::client::{Reply, Session};
use lockstorm_harness::locks::LockRequest;

use super::stage::{Stage, lock, percentile};

/// Locks that are held.
const LOCKS: usize = 100_000;
/// As Redisson has it by default: 30 s, renewed every 10 s in batches of 100.
const LOCK: &str = "redisson = { watchdog = \"30s\" }";
/// Rounds that are measured.
const ROUNDS: usize = 3;
/// Locks that are taken between two looks at the watchdog.
const TAKEN_AT_ONCE: usize = 1_000;
/// Clock ticks per second, in which Linux counts the time of processes.
const TICKS: f64 = 100.0;

pub async fn run() {
    println!("watchdog: {LOCKS} locks of one client, {LOCK}, {ROUNDS} rounds");
    let stage = Stage::new().await;
    let round_trip = stage.round_trip_us().await;
    let recorder = stage.recorder();
    let mut session = stage.session(&lock(LOCK), 0, 1, &recorder);
    take(&mut session).await;
    let server = stage.servers.nodes()[0].pid().expect("it runs");
    let start = Instant::now();
    let before = (
        cpu_s("self"),
        cpu_s(&server.to_string()),
        scripts(&stage).await,
    );
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        session.renewal_due().await;
        let begun = Instant::now();
        assert_eq!(session.renew_all().await, Reply::Done);
        rounds.push(begun.elapsed().as_secs_f64());
    }
    let wall = start.elapsed().as_secs_f64();
    let sent = scripts(&stage).await - before.2;
    let shares = (
        (cpu_s("self") - before.0) / wall,
        (cpu_s(&server.to_string()) - before.1) / wall,
    );
    assert_eq!(session.held().await.len(), LOCKS, "none was lost");
    recorder.finish().await.expect("the history is complete");
    let lease = lock(LOCK).lease().expect("it has a time to live");
    let latest = latest_renewal(&stage.history()).as_secs_f64() / lease.0.as_secs_f64();
    println!(
        "scripts                   {sent} in {wall:.1} s: {:.0}/s",
        sent as f64 / wall
    );
    let in_rounds = sent as f64 / rounds.iter().sum::<f64>();
    println!("scripts within a round    {in_rounds:.0}/s, round trip {round_trip:.0} us");
    println!(
        "length of a round         {:.2} s (median)",
        percentile(&mut rounds, 50)
    );
    println!(
        "CPU, client               {:.1} % of a core, recording included",
        100.0 * shares.0
    );
    println!(
        "CPU, server               {:.1} % of a core",
        100.0 * shares.1
    );
    println!("latest renewal            {latest:.2} of the lease");
    assert!(latest <= 0.5, "a renewal came later than half the lease");
    println!();
}

async fn take(session: &mut Session) {
    for n in 0..LOCKS {
        let key: Name = format!("lock-{n}").into();
        assert_eq!(
            session.acquire(&key, LockRequest::default()).await,
            Reply::Done
        );
        if n % TAKEN_AT_ONCE == 0 {
            // No work, but whatever round is due.
            assert_eq!(session.work(Duration::ZERO).await, Reply::Done);
        }
    }
}

/// The longest time from the sending of a grant or renewal to the answer to the next renewal.
fn latest_renewal(history: &History) -> Duration {
    let mut sent: HashMap<&Name, (u64, u64)> = HashMap::with_capacity(LOCKS);
    let mut latest = 0;
    for Event {
        key,
        time,
        kind,
        function,
        ..
    } in &history.events
    {
        if !matches!(function, Function::Acquire | Function::Renew) {
            continue;
        }
        // The sending of the last that was answered, and that of the one under way.
        let (kept_from, asked) = sent.entry(key).or_insert((time.0, time.0));
        match kind {
            Kind::Invoke => *asked = time.0,
            Kind::Ok => {
                latest = latest.max(time.0 - *kept_from);
                *kept_from = *asked;
            }
            Kind::Fail | Kind::Info | Kind::Note => panic!("nothing goes wrong here"),
        }
    }
    Duration::from_nanos(latest)
}

/// Scripts that the server has executed.
async fn scripts(stage: &Stage) -> u64 {
    let mut wire = stage.wire().await;
    let reply = wire.send(redis::cmd("INFO").arg("commandstats")).await;
    let Ok(redis::Value::BulkString(text)) = reply else {
        panic!("the server tells: {reply:?}");
    };
    let text = String::from_utf8_lossy(&text);
    let calls = text
        .lines()
        .find_map(|line| line.strip_prefix("cmdstat_eval:calls="))
        .and_then(|rest| rest.split(',').next());
    calls.map_or(0, |calls| calls.parse().expect("a number"))
}

/// Time that a process has had on all cores, user and system.
fn cpu_s(process: &str) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).expect("the process is there");
    // The name of the program may hold blanks; what follows it does not.
    let (_, rest) = stat.rsplit_once(')').expect("its name stands in brackets");
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let ticks = |at: usize| fields[at].parse::<f64>().expect("a number");
    (ticks(11) + ticks(12)) / TICKS
}
