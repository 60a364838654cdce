//! Time that the checker takes, and how much memory, for histories of a million operations.
//!
//! ```sh
//! cargo bench --bench sweep                               # the table
//! cargo bench --bench sweep -- --long                     # ten million operations as well
//! cargo bench --bench sweep -- --write "$PWD/h.jsonl"     # a history for `lockstorm check`
//! ```
//!
//! Times are medians of five. What the docs say of them is in docs/benchmarks.md.

mod storm;

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::time::{Duration, Instant};

use lockstorm_checker::history::{self, Header, write_event, write_header};
use lockstorm_checker::{Digest, DigestBuilder, Options, Property, Verdict, check_digest};

use crate::storm::Storm;

/// An odd number, so that one of them is the median.
const ROUNDS: usize = 5;
const MILLION: u64 = 1_000_000;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let Some(at) = args.iter().position(|arg| arg == "--write") {
        let path = args.get(at + 1).expect("--write names a file");
        return write(storm(MILLION, 10, 1), path);
    }
    println!("operations  clients  keys  read s  sweep s  check s  peak MB");
    for (clients, keys) in [(10, 1), (50, 1), (50, 100)] {
        measure(storm(MILLION, clients, keys), true);
    }
    if args.iter().any(|arg| arg == "--long") {
        for clients in [10, 50] {
            measure(storm(10 * MILLION, clients, 1), false);
        }
    }
}

fn storm(operations: u64, clients: usize, keys: usize) -> Storm {
    Storm {
        operations,
        clients,
        keys,
    }
}

fn measure(storm: Storm, with_text: bool) {
    let read = if with_text {
        let mut text = Vec::new();
        write_to(storm, &mut text);
        let read = median(|| drop(read(&text)));
        format!("{:.3}", read.as_secs_f64())
    } else {
        "-".to_owned()
    };
    let mut builder = DigestBuilder::new(Header::new());
    storm.events(|event| builder.push(&event));
    let digest = builder.finish();
    let sweep = Options {
        only: Some([Property::MutualExclusion].into()),
        ..Options::default()
    };
    let swept = median(|| judge(&digest, &sweep));
    let checked = median(|| judge(&digest, &Options::default()));
    println!(
        "{:>10}  {:>7}  {:>4}  {read:>6}  {:>7.3}  {:>7.3}  {:>7}",
        digest.operations.len(),
        storm.clients,
        storm.keys,
        swept.as_secs_f64(),
        checked.as_secs_f64(),
        peak_mb(),
    );
}

fn judge(digest: &Digest, options: &Options) {
    let analysis = check_digest(digest, options);
    assert_ne!(
        analysis.verdict,
        Verdict::Violated,
        "the storm keeps its promises"
    );
}

fn read(text: &[u8]) -> Digest {
    let mut builder = DigestBuilder::default();
    history::read(text, "storm", None, &mut builder).expect("what was written can be read");
    builder.finish()
}

fn median(mut work: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[ROUNDS / 2]
}

fn write(storm: Storm, path: &str) {
    let file = File::create(path).expect("the file can be created");
    let mut out = BufWriter::new(file);
    write_to(storm, &mut out);
    out.flush().expect("the file can be written");
}

fn write_to(storm: Storm, out: &mut impl std::io::Write) {
    let mut line = Vec::new();
    write_header(&mut line, &Header::new());
    storm.events(|event| {
        write_event(&mut line, &event);
        out.write_all(&line).expect("the history can be written");
        line.clear();
    });
}

/// The largest size that the process has had, from Linux; 0 elsewhere.
fn peak_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kb = line.and_then(|line| line.split_whitespace().nth(1));
    kb.and_then(|kb| kb.parse::<u64>().ok()).unwrap_or(0) / 1024
}
