//! A storm as a run folder holds it: history and record. There are violations in it: a client that
//! is granted what another one holds, and gives it back a little later.

use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Write as _};
use std::path::Path;

use lockstorm_checker::history::{Format, Function, Header, Kind, Process, Value, read};
use lockstorm_checker::history::{write_event, write_header};
use lockstorm_checker::{Digest, DigestBuilder, Event, Options, check_digest};
use lockstorm_reports::{read_run, write_run};

use crate::storm::Storm;

/// Name of the history in a run folder.
const HISTORY_FILE: &str = "history.jsonl";
/// A number that no client of a storm has.
const INTRUDER: Process = Process::Client(1_000_000);
/// Events for which the intruder keeps what is not its own.
const INTRUSION: u64 = 10;
/// As many as have a picture of their own.
const VIOLATIONS: u64 = 5;

/// Makes `folder` the folder of a run with such a history.
pub(crate) fn store(folder: &Path, storm: Storm) {
    write_history(&folder.join(HISTORY_FILE), storm);
    let record = include_str!("../../tests/failover/results.json");
    fs::write(folder.join("results.json"), record).expect("a record can be written");
    let mut run = read_run(folder).expect("the fixture is a record");
    "storm".clone_into(&mut run.scenario);
    run.analysis = check_digest(&read_history(folder), &Options::default());
    write_run(folder, &run).expect("the record can be written");
}

/// Reads it as a report does.
pub(crate) fn read_history(folder: &Path) -> Digest {
    let file = File::open(folder.join(HISTORY_FILE)).expect("it was written");
    let reader = BufReader::with_capacity(1 << 20, file);
    let mut builder = DigestBuilder::default();
    read(reader, "storm", Some(Format::Jsonl), &mut builder).expect("what was written is read");
    builder.finish()
}

fn write_history(path: &Path, storm: Storm) {
    let file = File::create(path).expect("the history can be created");
    let mut out = BufWriter::new(file);
    let mut line = Vec::new();
    write_header(&mut line, &Header::new());
    let mut index = 0;
    let mut write = |event: Event| {
        write_event(&mut line, &Event { index, ..event });
        out.write_all(&line).expect("the history can be written");
        line.clear();
        index += 1;
    };
    // Every operation has two events; the violations are spread evenly over them.
    let apart = 2 * storm.operations / (VIOLATIONS + 1);
    let mut done = 0;
    let mut intrusion: Option<Event> = None;
    storm.events(|event| {
        let (at, is_grant) = (event.index, is_grant(&event));
        write(event.clone());
        match &intrusion {
            Some(begun) if at >= begun.index + INTRUSION => {
                for kind in [Kind::Invoke, Kind::Ok] {
                    write(intruder(&event, begun, kind, Function::Release));
                }
                intrusion = None;
            }
            None if is_grant && done < VIOLATIONS && at >= apart * (done + 1) => {
                for kind in [Kind::Invoke, Kind::Ok] {
                    write(intruder(&event, &event, kind, Function::Acquire));
                }
                done += 1;
                intrusion = Some(event);
            }
            Some(_) | None => {}
        }
    });
    out.flush().expect("the history can be written");
}

fn is_grant(event: &Event) -> bool {
    event.function == Function::Acquire && event.kind == Kind::Ok
}

/// Event of the intruder at the time of `now`, with the key of `begun`.
fn intruder(now: &Event, begun: &Event, kind: Kind, function: Function) -> Event {
    Event {
        process: INTRUDER,
        kind,
        function,
        key: begun.key.clone(),
        value: Value {
            lease_ms: Some(1_000),
            ..Value::default()
        },
        ..now.clone()
    }
}
