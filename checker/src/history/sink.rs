//! Where the events of a history go while it is read.

use super::document::{History, TornLine};
use super::event::Event;
use super::format::Format;
use super::header::Header;

/// Takes a history event by event, in order of their index.
///
/// [`History`] keeps every event, [`DigestBuilder`](crate::DigestBuilder) only what the checker
/// needs of them.
pub trait EventSink {
    /// What the events belong to; before the first event, and only where the history says so.
    fn header(&mut self, header: Header);

    /// The next event.
    fn event(&mut self, event: Event);
}

impl EventSink for History {
    fn header(&mut self, header: Header) {
        self.header = header;
    }

    fn event(&mut self, event: Event) {
        self.events.push(event);
    }
}

/// What is known of a history once it is read to its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// What it was read as, where that was to be found out.
    pub format: Option<Format>,
    /// How many events there were.
    pub events: u64,
    /// A last line that was cut short, and is therefore not among the events.
    pub torn: Option<TornLine>,
}
