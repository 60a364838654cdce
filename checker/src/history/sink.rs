//! Sinks of the events of a history while it is read.

use super::document::{History, TornLine};
use super::event::Event;
use super::format::Format;
use super::guard::Unread;
use super::header::Header;
use super::stamp::TimeUnit;

/// Takes a history event by event, in order of their index.
///
/// [`History`] keeps every event, [`DigestBuilder`](crate::DigestBuilder) only what the checker
/// needs of them.
pub trait EventSink: Send {
    /// Takes the header of the history; before the first event, and only where the history has one.
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

/// Knowledge of a history once it is read to its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Format as which it was read, where that was to be found out.
    pub format: Option<Format>,
    /// Number of events that there were.
    pub events: u64,
    /// A last line that was cut short, and is therefore not among the events.
    pub torn: Option<TornLine>,
    /// How many NUL bytes it ends with: room that its writer had made and did not live to use.
    pub unused: usize,
    /// Unit of its times, where somebody said it or they told it themselves.
    pub time_unit: Option<TimeUnit>,
    /// When its first event was, in nanoseconds since 1970; absent where its times begin with it.
    pub began: Option<u64>,
    /// Fields that it has and nobody reads; only where it was read strictly.
    pub unread: Unread,
}
