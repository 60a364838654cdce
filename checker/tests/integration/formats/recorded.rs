//! Histories that others recorded. They are not part of the project: where their folder is
//! absent, the test says so and proves nothing.

use std::fs;
use std::path::Path;

use lockstorm_checker::history::{Event, Format, History, Kind, Process, read};

const FOLDER: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../shared/histories/porcupine"
);

/// Number of files that the folder holds.
const FILES: usize = 53;

/// Lines that hold an operation of a client.
fn lines(text: &str, kind: &str) -> usize {
    let of_client = |line: &&str| line.contains(kind) && !line.contains("nemesis");
    text.lines().filter(of_client).count()
}

fn count(events: &[Event], kind: Kind) -> usize {
    let of_client = |event: &&Event| event.kind == kind && event.process != Process::Nemesis;
    events.iter().filter(of_client).count()
}

#[test]
fn every_recorded_history_is_recognised_and_read_line_for_line() {
    let Ok(folder) = fs::read_dir(Path::new(FOLDER)) else {
        eprintln!("SKIPPED: there are no recorded histories at {FOLDER}");
        return;
    };
    let mut files = 0;
    for entry in folder {
        let path = entry.expect("the folder can be listed").path();
        let format = match path.extension().and_then(|extension| extension.to_str()) {
            Some("log") => Format::JepsenLog,
            Some("txt") => Format::Porcupine,
            _ => continue,
        };
        let name = path.display().to_string();
        let text = fs::read_to_string(&path).expect("the file is text");
        assert_eq!(Format::detect(text.as_bytes()), Some(format), "{name}");
        let mut history = History::default();
        let reading = read(text.as_bytes(), &name, None, &mut history);
        let reading = reading.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(reading.torn, None, "{name}");
        for (kind, word) in [
            (Kind::Invoke, ":invoke"),
            (Kind::Ok, ":ok"),
            (Kind::Fail, ":fail"),
            (Kind::Info, ":info"),
        ] {
            assert_eq!(
                count(&history.events, kind),
                lines(&text, word),
                "{name}: {word}"
            );
        }
        assert!(
            count(&history.events, Kind::Invoke) > 50,
            "{name} holds a history"
        );
        files += 1;
    }
    assert_eq!(files, FILES, "all of them are there");
}
