//! How fast the frontier decides: `cargo bench -p lockstorm-checker --bench frontier`.
//!
//! Method: histories of one key by a simulated lock that keeps its promises, with refused tries,
//! at 10 and at 50 clients; the same with 50 indeterminate acquires and one double grant at the
//! end; and the etcd logs of others. The whole check, where the sweep decides first, is measured
//! beside it. Printed are the median of five runs and the greatest memory of the process so far,
//! histories included.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::Path;
use std::time::{Duration, Instant};

use lockstorm_checker::history::{Event, Function, Header, Kind, Process, Value, read};
use lockstorm_checker::{
    Digest, DigestBuilder, ModelName, Nanos, Options, Property, Verdict, check_digest,
    frontier_alone,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const OPERATIONS: u64 = 1_000_000;
const RUNS: usize = 5;
const ETCD: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../shared/histories/porcupine"
);

fn main() {
    let model = ModelName::OwnerAware;
    for (clients, faulty) in [(10, false), (50, false), (10, true), (50, true)] {
        let digest = simulated(clients, faulty);
        let (time, verdict) = median(|| frontier_alone(&digest, model));
        let expected = if faulty {
            Verdict::Violated
        } else {
            Verdict::Valid
        };
        assert_eq!(verdict, expected);
        let what = if faulty { ", faulty" } else { "" };
        report(&format!("1 M operations, {clients} clients{what}"), time);
        let options = Options {
            model: Some(model),
            only: Some([Property::Model].into()),
            ..Options::default()
        };
        let (time, _) = median(|| check_digest(&digest, &options));
        report("  with the sweep and the witness", time);
    }
    etcd();
}

fn etcd() {
    let folder = Path::new(ETCD);
    let logs: Vec<Digest> = (0..50)
        .map(|n| folder.join(format!("etcd_{n:03}.log")))
        .filter(|path| path.exists())
        .map(|path| {
            let text = std::fs::read(&path).expect("the log can be read");
            let mut builder = DigestBuilder::new(Header::new());
            read(&*text, "log", None, &mut builder).expect("the log is a history");
            builder.finish()
        })
        .collect();
    let model = ModelName::CasRegister { drop_failed: false };
    let (time, _) = median(|| {
        let violated = logs
            .iter()
            .map(|digest| frontier_alone(digest, model))
            .filter(|&verdict| verdict == Verdict::Violated);
        violated.count()
    });
    report(&format!("{} etcd logs", logs.len()), time);
}

fn median<T>(mut run: impl FnMut() -> T) -> (Duration, T) {
    let mut times = Vec::new();
    let mut last = None;
    for _ in 0..RUNS {
        let start = Instant::now();
        last = Some(run());
        times.push(start.elapsed());
    }
    times.sort_unstable();
    (times[RUNS / 2], last.expect("it ran"))
}

fn report(what: &str, time: Duration) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kb: u64 = peak
        .and_then(|line| line.split_whitespace().next()?.parse().ok())
        .unwrap_or_default();
    println!(
        "{what:<36} {:>9.4} s  {:>5} MB",
        time.as_secs_f64(),
        kb / 1024
    );
}

/// Next event in the life of a client.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Sent,
    TakesEffect,
    Answered,
}

struct Client {
    holds: bool,
    releases: bool,
    granted: bool,
}

fn simulated(clients: u64, faulty: bool) -> Digest {
    let mut rng = ChaCha8Rng::seed_from_u64(clients);
    let mut builder = DigestBuilder::new(Header::new());
    let mut index = 0;
    let mut push = |time, process, kind, function: &str, error: Option<&str>| {
        builder.push(&Event {
            index,
            time: Nanos(time),
            kind,
            process: Process::Client(process),
            function: Function::from(function),
            key: "lock".into(),
            value: Value::default(),
            error: error.map(Into::into),
            extra: None,
        });
        index += 1;
    };
    if faulty {
        for crashed in 0..50 {
            push(crashed, 1000 + crashed, Kind::Invoke, "acquire", None);
        }
    }
    let mut queue: BinaryHeap<Reverse<(u64, Stage, u64)>> = (0..clients)
        .map(|client| Reverse((100 + client, Stage::Sent, client)))
        .collect();
    let mut all: Vec<Client> = (0..clients)
        .map(|_| Client {
            holds: false,
            releases: false,
            granted: false,
        })
        .collect();
    let (mut is_held, mut sent, mut now) = (false, 0, 0);
    while let Some(Reverse((time, stage, who))) = queue.pop() {
        now = time;
        let client = &mut all[who as usize];
        let name = if client.releases || (stage == Stage::Sent && client.holds) {
            "release"
        } else {
            "acquire"
        };
        let next = match stage {
            Stage::Sent if sent == OPERATIONS => continue,
            Stage::Sent => {
                sent += 1;
                client.releases = client.holds;
                push(time, who, Kind::Invoke, name, None);
                Stage::TakesEffect
            }
            Stage::TakesEffect => {
                client.granted = !client.releases && !is_held;
                is_held = !client.releases;
                client.holds = client.granted;
                Stage::Answered
            }
            Stage::Answered => {
                let is_ok = client.releases || client.granted;
                let (kind, error) = if is_ok {
                    (Kind::Ok, None)
                } else {
                    (Kind::Fail, Some(Event::REFUSED))
                };
                push(time, who, kind, name, error);
                client.releases = false;
                Stage::Sent
            }
        };
        queue.push(Reverse((time + rng.random_range(1..1000), next, who)));
    }
    if faulty {
        for double in 0..2 {
            let at = now + 10 * (1 + double);
            push(at, 2000 + double, Kind::Invoke, "acquire", None);
            push(at + 1, 2000 + double, Kind::Ok, "acquire", None);
        }
    }
    builder.finish()
}
