//! Parts that the readers of foreign formats share: places, names, order and the way to the sink.
//!
//! Not for: our own format, whose lines carry whatever an event has.

use serde_json::{Map, Value as Json};

use super::error::ReadError;
use super::event::{Event, Function, Kind, Name, Nanos, Process, Value};
use super::guard::Guard;
use super::order::Order;
use super::read::Terms;
use super::sink::{EventSink, Reading};
use super::stamp::{Clock, Stamp};
use crate::history::names::Names;

/// A place in a file; both counts are from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) line: u64,
    pub(super) column: usize,
}

impl Place {
    pub(super) const START: Self = Self { line: 1, column: 1 };

    /// The refusal of what stands here in `file`.
    pub(super) fn refuse(
        self,
        file: &str,
        reason: impl Into<String>,
        remedy: impl Into<String>,
    ) -> ReadError {
        ReadError::Malformed {
            file: file.to_owned(),
            line: self.line,
            column: self.column,
            reason: reason.into(),
            remedy: remedy.into(),
        }
    }
}

/// An event as it stands in a file.
#[derive(Debug)]
pub(super) struct Draft {
    /// Absent: its position.
    pub(super) index: Option<u64>,
    /// Absent: its position, in nanoseconds. Formats without times order events by position.
    pub(super) time: Option<Stamp>,
    pub(super) kind: Kind,
    pub(super) process: Process,
    pub(super) function: Function,
    pub(super) key: Option<Name>,
    pub(super) value: Value,
    pub(super) error: Option<Name>,
    pub(super) extra: Option<Box<Map<String, Json>>>,
}

/// Numbers and orders events, and hands them on.
pub(super) struct Intake<'a, S> {
    pub(super) file: &'a str,
    sink: &'a mut S,
    names: Names,
    order: Order,
    guard: Guard,
    clock: Clock,
    pub(super) reading: Reading,
}

impl<'a, S: EventSink> Intake<'a, S> {
    pub(super) fn new(file: &'a str, terms: Terms, sink: &'a mut S) -> Self {
        Self {
            file,
            sink,
            names: Names::default(),
            order: Order::default(),
            guard: Guard::new(terms),
            clock: terms.clock(),
            reading: Reading::default(),
        }
    }

    /// Returns what is known of the history at its end.
    ///
    /// # Errors
    /// When its times can hardly be what they were taken for.
    pub(super) fn finish(self) -> Result<Reading, ReadError> {
        Ok(Reading {
            began: self.clock.began(),
            unread: self.guard.finish(self.file)?,
            ..self.reading
        })
    }

    /// The shared copy of a name.
    pub(super) fn name(&mut self, text: &str) -> Name {
        let id = self.names.intern(text);
        Name::clone(self.names.name(id))
    }

    /// Hands on the event that stands at `place`.
    pub(super) fn take(&mut self, draft: Draft, place: Place) -> Result<(), ReadError> {
        let index = draft.index.unwrap_or(self.order.index_next());
        let time = match draft.time {
            Some(stamp) => self.clock.read(stamp),
            None => Ok(Nanos(index)),
        };
        let time = time.map_err(|(reason, remedy)| place.refuse(self.file, reason, remedy))?;
        let event = Event {
            index,
            time,
            kind: draft.kind,
            process: draft.process,
            function: draft.function,
            key: draft.key.unwrap_or_else(|| self.name("")),
            value: draft.value,
            error: draft.error,
            extra: draft.extra,
        };
        if let Err(disorder) = self.order.push(&event) {
            return Err(place.refuse(self.file, disorder.reason, disorder.remedy));
        }
        if let Err(objection) = self.guard.push(&event) {
            return Err(place.refuse(self.file, objection.reason, objection.remedy));
        }
        self.reading.events += 1;
        self.sink.event(event);
        Ok(())
    }
}
