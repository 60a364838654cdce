//! A whole history, as read from a file or recorded in memory.

use super::event::Event;
use super::header::Header;

/// Header and events of one run, in order of their index.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// Header that says what the events belong to; the default header where the file has none.
    pub header: Header,
    /// The events.
    pub events: Vec<Event>,
    /// A last line that was cut short, and is therefore not among the events.
    pub torn: Option<TornLine>,
}

/// The last line of a file whose writer was stopped in the middle of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TornLine {
    /// Its number, from 1.
    pub line: u64,
    /// Number of its bytes that were there.
    pub bytes: usize,
    /// Reason why it could not be read.
    pub reason: String,
}
