//! Clients of both sides contend for the same locks; the checker decides on all that happened.

use std::fs::File;
use std::io::BufReader;
use std::time::Duration;

use lockstorm_checker::history::{
    Event, Function, Header, History, Kind as EventKind, Mode, Name, read_jsonl,
};
use lockstorm_checker::{Analysis, Options, Property, Verdict, check};
use lockstorm_harness::client::{Reply, Session, SessionParts};
use lockstorm_harness::clock::RunClock;
use lockstorm_harness::locks::LockRequest;
use lockstorm_harness::recorder::{EventSink, Recorder};
use lockstorm_harness::seed::Seed;
use lockstorm_scenarios::{DurationRange, Era};
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use serde_json::{Value as Json, json};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::kind::{Kind, PERMITS, WAIT};
use super::kit::version;
use super::merge::{Offset, merge};
use super::test_bed::{LONG, TestBed};
use crate::support::WITHIN;

/// Number of seconds that each contention lasts, unless `LOCKSTORM_SECONDS` says otherwise.
const SECONDS: u64 = 1;
/// Number of rounds that each client makes at least, however slow the machine is.
const ROUNDS_MIN: u64 = 10;
/// The locks that are contended for.
const NAMES: [&str; 2] = ["orders", "stock"];
/// Time that a critical section and the pause after it last, in microseconds.
const WORK_US: std::ops::Range<u64> = 1_000..4_000;
/// The first process of the Java side, above all of ours: an indeterminate operation moves a
/// process on by the number of clients.
const JAVA_PROCESS: u64 = 1_000_000;

/// Number of clients that each side has.
#[derive(Clone, Copy, Debug)]
struct Sides {
    ours: u64,
    theirs: u64,
}

/// Each way: the many of one side wait for the few of the other.
const WAYS: [Sides; 2] = [Sides { ours: 4, theirs: 2 }, Sides { ours: 2, theirs: 4 }];

#[tokio::test(flavor = "multi_thread")]
async fn our_clients_and_those_of_redisson_4_7_never_hold_at_once() {
    contend_for_each_kind(Era::V4_7).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "an older era; make interop"]
async fn our_clients_and_those_of_redisson_3_17_never_hold_at_once() {
    contend_for_each_kind(Era::V3_17).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "an older era; make interop"]
async fn our_clients_and_those_of_redisson_3_10_never_hold_at_once() {
    contend_for_each_kind(Era::V3_10).await;
}

async fn contend_for_each_kind(era: Era) {
    let Some(bed) = TestBed::prepare(era).await else {
        return;
    };
    for kind in Kind::of(era) {
        for sides in WAYS {
            // What one contention left would be matter for the next.
            bed.command(&["FLUSHALL"]).await;
            let (history, offset) = contend(&bed, kind, sides).await;
            judge(era, kind, sides, &history, offset);
        }
    }
}

/// All that happened while both sides contended for locks of a kind.
async fn contend(bed: &TestBed, kind: Kind, sides: Sides) -> (History, Offset) {
    // Java is slow in what it does for the first time.
    let warm_up = request(kind, &["warm-up"], 1, Duration::ZERO);
    theirs(bed, warm_up, Duration::ZERO).await;
    let clock = RunClock::start();
    let before = Offset::measure(&bed.peer, clock).await;
    let path = bed.path().join("history.jsonl");
    let header = Header {
        permits: kind.has_permits().then_some(PERMITS),
        ..Header::new()
    };
    let recorder = Recorder::start(&path, &header, clock).expect("the folder can be written");
    let length = length();
    let request = request(kind, &NAMES, sides.theirs, length);
    let theirs = theirs(bed, request, length);
    let until = Instant::now() + length;
    let mut ours = JoinSet::new();
    for n in 0..sides.ours {
        let session = session(bed, kind, n, sides.ours, recorder.sink());
        ours.spawn(rounds(session, kind, Seed(n).stream("rounds"), until));
    }
    let ours = ours.join_all();
    let (theirs, _) = tokio::join!(theirs, ours);
    let offset = before.and(Offset::measure(&bed.peer, clock).await);
    recorder.finish().await.expect("the disk is not full");
    let file = File::open(&path).expect("the history is there");
    let ours = read_jsonl(BufReader::new(file), "ours").expect("it is a history");
    (merge(ours, theirs, offset), offset)
}

/// Request that makes the Java side contend for these locks.
fn request(kind: Kind, names: &[&str], threads: u64, length: Duration) -> Json {
    json!({
        "act": "contend", "thread": "contention", "kind": kind.word(), "names": names,
        "stock": PERMITS, "threads": threads, "for_ms": length.as_millis() as u64,
        "rounds": ROUNDS_MIN, "process": JAVA_PROCESS, "wait_ms": WAIT.as_millis() as u64,
        "lease_ms": LONG.as_millis() as u64,
    })
}

/// Events of the Java side, by its clock.
async fn theirs(bed: &TestBed, request: Json, length: Duration) -> Vec<Event> {
    let mut replies = bed.peer.begin(request).await;
    let mut lines = Vec::new();
    loop {
        let reply = replies.next(length + WAIT + WITHIN).await;
        let Json::Object(event) = &reply["event"] else {
            break;
        };
        serde_json::to_writer(&mut lines, event).expect("memory can be written");
        lines.push(b'\n');
    }
    let history = read_jsonl(&lines[..], "theirs").expect("it is a history");
    history.events
}

fn length() -> Duration {
    let seconds = std::env::var("LOCKSTORM_SECONDS").map_or(SECONDS, |seconds| {
        seconds
            .parse()
            .expect("LOCKSTORM_SECONDS is a whole number")
    });
    Duration::from_secs(seconds)
}

fn session(bed: &TestBed, kind: Kind, n: u64, clients: u64, sink: EventSink) -> Session {
    let name = format!("rust-{n}");
    let spec = kind.spec(bed.era, LONG, PERMITS);
    Session::new(SessionParts {
        name: name.as_str().into(),
        process: n,
        clients,
        lock: bed.lock(kind, LONG, PERMITS, &name, n as usize),
        gate: bed.servers.registry().register(&name),
        lease: spec.lease().map(|lease| lease.0),
        until: None,
        renew_every: None,
        lacks_watchdog: false,
        renews_unseen: false,
        renews_on: false,
        sink,
        rng: Seed(n).stream("session"),
        job: None,
    })
}

/// Acquires, works and releases until the time is over, and often enough.
async fn rounds(mut session: Session, kind: Kind, mut rng: ChaCha8Rng, until: Instant) {
    for round in 0.. {
        if round >= ROUNDS_MIN && Instant::now() >= until {
            return;
        }
        let key: Name = NAMES[rng.random_range(0..NAMES.len())].into();
        let reads = kind == Kind::ReadWrite && rng.random();
        let ask = LockRequest {
            mode: if reads { Mode::Read } else { Mode::Write },
            wait: Some(WAIT),
            ..LockRequest::default()
        };
        // Nobody looks again by himself: who is not woken waits for the lease to end.
        let pause = DurationRange::from_millis(600_000, 600_000);
        if session.acquire_within(&key, ask, pause).await == Reply::Done {
            tokio::time::sleep(Duration::from_micros(rng.random_range(WORK_US))).await;
            session.release(&key, ask).await;
        }
        tokio::time::sleep(Duration::from_micros(rng.random_range(WORK_US))).await;
    }
}

fn judge(era: Era, kind: Kind, sides: Sides, history: &History, offset: Offset) {
    let options = Options {
        model: Some(kind.model()),
        ..Options::default()
    };
    let analysis = check(history, &options);
    let [to_us, to_them] = hand_overs(&history.events);
    let coverage = &analysis.coverage;
    println!(
        "Redisson {}, {}, {} of ours and {} of theirs: {} grants, {} contended, {to_us} from them \
         to us and {to_them} from us to them, clocks within {} us; {}",
        version(era),
        kind.word(),
        sides.ours,
        sides.theirs,
        coverage.granted,
        coverage.contended,
        offset.width() / 1000,
        verdicts(&analysis),
    );
    // Who may miss its turn promises nothing of waiting.
    let promises = |property: Property| kind.wakes_all(era) || property.is_safety();
    let judged = analysis.properties.iter();
    for (property, judgement) in judged.filter(|(property, _)| promises(**property)) {
        assert_ne!(
            judgement.verdict,
            Verdict::Violated,
            "{era:?} {kind:?} {property}: {:#?}",
            judgement.witnesses
        );
    }
    let own = match kind {
        Kind::Fenced => Some(Property::Fencing),
        Kind::Fair => Some(Property::Fairness).filter(|&fairness| promises(fairness)),
        Kind::Reentrant | Kind::ReadWrite | Kind::Semaphore | Kind::Permits => None,
    };
    let always = [Property::MutualExclusion, Property::Model];
    for property in always.into_iter().chain(own) {
        let verdict = analysis.properties.get(&property).map(|j| j.verdict);
        assert_eq!(verdict, Some(Verdict::Valid), "{kind:?} {property}");
    }
    assert_eq!(coverage.indeterminate, 0, "{kind:?}: nothing disturbs them");
    assert!(
        to_us > 0 && to_them > 0,
        "{kind:?}: the locks never changed sides"
    );
}

fn verdicts(analysis: &Analysis) -> String {
    let each = analysis.properties.iter();
    let each = each.map(|(property, judgement)| format!("{property} {}", judgement.verdict));
    each.collect::<Vec<_>>().join(", ")
}

/// How often a lock went from their side to ours, and from ours to theirs.
fn hand_overs(events: &[Event]) -> [usize; 2] {
    let mut counts = [0; 2];
    for name in NAMES {
        let grants: Vec<bool> = events
            .iter()
            .filter(|event| &*event.key == name && event.function == Function::Acquire)
            .filter(|event| event.kind == EventKind::Ok)
            .filter_map(|event| Some(event.value.owner.as_ref()?.starts_with("java-")))
            .collect();
        for pair in grants.windows(2) {
            match pair {
                [true, false] => counts[0] += 1,
                [false, true] => counts[1] += 1,
                _ => {}
            }
        }
    }
    counts
}
