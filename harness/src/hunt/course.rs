//! The course of a trial: what its clients did and how that ended, whenever it was. How many
//! different ones there were says more of a hunt than how many trials.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use lockstorm_checker::history::{Event, Kind, Process, read_jsonl};

use crate::folder::HISTORY;

/// The course of the run in this folder, such as `0 acquire+ release+, 1 acquire- acquire+`; empty
/// if its history cannot be read.
pub fn course(folder: &Path) -> String {
    let path = folder.join(HISTORY);
    let history = File::open(&path)
        .ok()
        .and_then(|file| read_jsonl(BufReader::new(file), HISTORY).ok());
    history.map_or_else(String::new, |history| course_of(&history.events))
}

/// The course of these events. Who waits asks again and again: what is the same several times in a
/// row counts once.
fn course_of(events: &[Event]) -> String {
    let mut clients: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for event in events {
        let (Process::Client(client), Some(sign)) = (&event.process, sign(event.kind)) else {
            continue;
        };
        let done = clients.entry(*client).or_default();
        let what = format!("{}{sign}", event.function.as_str());
        if done.last() != Some(&what) {
            done.push(what);
        }
    }
    let clients = clients.iter();
    let clients = clients.map(|(client, done)| format!("{client} {}", done.join(" ")));
    clients.collect::<Vec<_>>().join(", ")
}

const fn sign(kind: Kind) -> Option<char> {
    match kind {
        Kind::Ok => Some('+'),
        Kind::Fail => Some('-'),
        Kind::Info => Some('?'),
        Kind::Invoke | Kind::Note => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_course_has_no_times_and_no_repetitions() {
        let line = |time: u64, process: u64, kind: &str, function: &str| {
            let event = json!({
                "index": time, "time": time, "type": kind, "process": process, "f": function,
                "key": "k", "value": { "owner": "o" },
            });
            event.to_string()
        };
        let lines = [
            line(0, 0, "invoke", "acquire"),
            line(1, 0, "ok", "acquire"),
            line(2, 1, "invoke", "acquire"),
            line(3, 1, "fail", "acquire"),
            line(4, 1, "invoke", "acquire"),
            line(5, 1, "fail", "acquire"),
            line(6, 0, "invoke", "release"),
            line(7, 0, "info", "release"),
        ];
        let text = lines.join("\n");
        let history = read_jsonl(text.as_bytes(), "test").unwrap();
        assert_eq!(
            course_of(&history.events),
            "0 acquire+ release?, 1 acquire-"
        );
    }
}
