//! The readers of foreign formats, and the writer of EDN.
//!
//! Method: each rule of a format has a text that keeps it and one that breaks it; what is written
//! must read back as it was; the recorded histories of others must read whole; and random bytes
//! must end in events or in an error with its place, never in a panic.

mod array;
mod atlasdb;
mod edn;
mod hostile;
mod jepsen_log;
mod porcupine;
mod recorded;
mod round_trip;
mod strict;
mod times;

use lockstorm_checker::history::{Event, Format, History, ReadError, read};

/// Everything that `text` holds.
fn try_read(text: &str, format: Format) -> Result<History, ReadError> {
    let mut history = History::default();
    history.torn = read(text.as_bytes(), "h", Some(format), &mut history)?.torn;
    Ok(history)
}

fn events(text: &str, format: Format) -> Vec<Event> {
    let history = try_read(text, format).expect("the text is well-formed");
    assert_eq!(history.torn, None, "nothing is cut short in {text}");
    history.events
}

fn refusal(text: &str, format: Format) -> String {
    let error = try_read(text, format).expect_err("the text is malformed");
    error.to_string()
}
