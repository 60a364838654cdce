//! The bytes of one event of ours → the event, handed on.
//!
//! For: what a line of its own and an element of an array have in common. Not for: finding where
//! an event begins and ends, which the two readers do.

use super::{line, plain};
use crate::history::guard::{Guard, bounded, tells_texts};
use crate::history::intake::Place;
use crate::history::names::Names;
use crate::history::order::Order;
use crate::history::processes::{Misnamed, Processes};
use crate::history::read::Terms;
use crate::history::stamp::{Clock, Stamp};
use crate::history::{Event, EventSink, FORMAT, Header, Kind, Nanos, ReadError, Reading, VERSION};

/// Reason why an event is refused.
pub(super) enum Fault {
    /// It is no JSON, or not that of an event.
    Json(serde_json::Error),
    /// It is an event, but not one that can stand there.
    Other {
        reason: String,
        remedy: String,
        /// How many bytes of it come before what is wrong; absent where it is the whole.
        before: Option<usize>,
    },
}

/// Takes the events of one history.
pub(super) struct Events<'a, S> {
    pub(super) file: &'a str,
    sink: &'a mut S,
    names: Names,
    order: Order,
    guard: Guard,
    clock: Clock,
    processes: Processes,
    pub(super) reading: Reading,
}

impl<'a, S: EventSink> Events<'a, S> {
    pub(super) fn new(file: &'a str, terms: Terms, sink: &'a mut S) -> Self {
        Self {
            file,
            sink,
            names: Names::default(),
            order: Order::default(),
            guard: Guard::new(terms),
            clock: terms.clock(),
            processes: Processes::default(),
            reading: Reading::default(),
        }
    }

    /// Returns everything that is known of the history at its end.
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

    /// Takes what comes first: a header, or an event.
    pub(super) fn take_first(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        match header(bytes) {
            Ok(Some(header)) => {
                self.guard.header(&header);
                self.sink.header(header);
                Ok(())
            }
            // What cannot be read as a header is judged as an event.
            Ok(None) | Err(Fault::Json(_)) => self.take(bytes),
            Err(fault) => Err(fault),
        }
    }

    /// Takes the next event.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let event = self.event(bytes)?;
        self.reading.events += 1;
        self.sink.event(event);
        Ok(())
    }

    fn event(&mut self, bytes: &[u8]) -> Result<Event, Fault> {
        let names = &mut self.names;
        let line = match plain::line(bytes, names) {
            Some(line) => line,
            None => line::parse(bytes, names).map_err(Fault::Json)?,
        };
        let (stamp, client) = (line.time, line.client.clone());
        let mut event = line.into_event(self.order.index_next(), names);
        if let Some(stamp) = stamp {
            event.time = time_of(&mut self.clock, stamp, bytes)?;
        }
        if let Some(client) = client {
            let assigned = self.processes.assign(&mut event, client);
            assigned.map_err(|misnamed| misnamed_process(&misnamed, bytes))?;
        }
        if event.kind == Kind::Note && tells_texts(event.function.as_str()) {
            short_enough("note", bytes)?;
        }
        self.order
            .push(&event)
            .map_err(|disorder| whole(disorder.reason, disorder.remedy))?;
        self.guard.push(&event).map_err(|objection| Fault::Other {
            before: find(bytes, &objection.word),
            reason: objection.reason,
            remedy: objection.remedy,
        })?;
        Ok(event)
    }

    /// The refusal of what begins at `start`.
    pub(super) fn refuse(&self, start: Place, bytes: &[u8], fault: Fault) -> ReadError {
        match fault {
            Fault::Json(error) => {
                let place = within(start, error.line(), error.column());
                place.refuse(self.file, reason(&error), remedy(&error))
            }
            Fault::Other {
                reason,
                remedy,
                before,
            } => {
                let place = before.map_or(start, |before| after(start, &bytes[..before]));
                place.refuse(self.file, reason, remedy)
            }
        }
    }
}

/// Refuses a note or a header that is too long.
fn short_enough(what: &str, bytes: &[u8]) -> Result<(), Fault> {
    bounded(what, bytes.len()).map_err(|(reason, remedy)| whole(reason, &remedy))
}

/// A fault of the event as a whole.
fn whole(reason: String, remedy: &str) -> Fault {
    Fault::Other {
        reason,
        remedy: remedy.to_owned(),
        before: None,
    }
}

/// The time of the event in `bytes`.
fn time_of(clock: &mut Clock, stamp: Stamp, bytes: &[u8]) -> Result<Nanos, Fault> {
    clock.read(stamp).map_err(|(reason, remedy)| Fault::Other {
        reason: reason.into_owned(),
        remedy: remedy.to_owned(),
        before: find(bytes, "time"),
    })
}

/// The refusal of the process in `bytes`.
fn misnamed_process(Misnamed(name): &Misnamed, bytes: &[u8]) -> Fault {
    Fault::Other {
        reason: format!("the process {name:?} is nearly \"nemesis\""),
        remedy: "it must be a process: a number from 0, the name of a client, or \"nemesis\""
            .to_owned(),
        before: find(bytes, name),
    }
}

/// Where a word stands first, in quotes, if it has no escapes.
fn find(bytes: &[u8], word: &str) -> Option<usize> {
    let quoted = format!("\"{word}\"");
    let windows = bytes.windows(quoted.len());
    windows
        .into_iter()
        .position(|window| window == quoted.as_bytes())
}

/// The place that follows `bytes`, which begin at `start`.
fn after(start: Place, bytes: &[u8]) -> Place {
    let mut lines = bytes.split(|&byte| byte == b'\n');
    let last = lines.next_back().unwrap_or_default();
    within(start, 1 + lines.count(), last.len() + 1)
}

/// The header that stands there, if it is one.
fn header(bytes: &[u8]) -> Result<Option<Header>, Fault> {
    if !line::is_header(bytes).map_err(Fault::Json)? {
        return Ok(None);
    }
    short_enough("header", bytes)?;
    let header: Header = serde_json::from_slice(bytes).map_err(|error| {
        let remedy = format!(
            "begin it with {{\"format\":\"{FORMAT}\",\"version\":{VERSION}}}, or leave it out"
        );
        whole(
            format!("the header cannot be read: {}", reason(&error)),
            &remedy,
        )
    })?;
    if header.format != FORMAT {
        return Err(whole(
            format!("the format is {:?}, not {FORMAT:?}", header.format),
            "convert the history, or correct its header",
        ));
    }
    if !(1..=VERSION).contains(&header.version) {
        return Err(whole(
            format!(
                "version {} of the format is not supported, only 1 to {VERSION}",
                header.version
            ),
            "use the version of lockstorm that wrote it",
        ));
    }
    Ok(Some(header))
}

/// Where in the file a place is that counts from `start`.
fn within(start: Place, line: usize, column: usize) -> Place {
    let lines = line.saturating_sub(1) as u64;
    let before = if lines == 0 {
        start.column.saturating_sub(1)
    } else {
        0
    };
    Place {
        line: start.line + lines,
        column: before + column,
    }
}

/// Returns the message of `serde_json`, without the place, which counts from the start of the
/// event.
pub(super) fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).unwrap_or(&text).to_owned()
}

fn remedy(error: &serde_json::Error) -> &'static str {
    match error.classify() {
        serde_json::error::Category::Data => "write the field with a value of that kind",
        serde_json::error::Category::Syntax
        | serde_json::error::Category::Eof
        | serde_json::error::Category::Io => "every event must be one JSON object; repair this one",
    }
}
