//! The bytes of one event of ours → the event, handed on.
//!
//! For: what a line of its own and an element of an array have in common. Not for: finding where
//! an event begins and ends, which the two readers do.

use super::{line, plain};
use crate::history::intake::Place;
use crate::history::order::Order;
use crate::history::{Event, EventSink, FORMAT, Header, ReadError, Reading, VERSION};
use crate::names::Names;

/// Why an event is refused.
pub(super) enum Fault {
    /// It is no JSON, or not that of an event.
    Json(serde_json::Error),
    /// It is an event, but not one that can stand there.
    Other { reason: String, mend: String },
}

/// Takes the events of one history.
pub(super) struct Events<'a, S> {
    pub(super) file: &'a str,
    sink: &'a mut S,
    names: Names,
    order: Order,
    pub(super) reading: Reading,
}

impl<'a, S: EventSink> Events<'a, S> {
    pub(super) fn new(file: &'a str, sink: &'a mut S) -> Self {
        Self {
            file,
            sink,
            names: Names::default(),
            order: Order::default(),
            reading: Reading::default(),
        }
    }

    /// Takes what comes first: a header, or an event.
    pub(super) fn take_first(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        match header(bytes) {
            Ok(Some(header)) => {
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
        let event = match plain::event(bytes, names) {
            Some(event) => event,
            None => line::parse(bytes, names)
                .map_err(Fault::Json)?
                .into_event(self.order.index_next(), names),
        };
        self.order.push(&event).map_err(|disorder| Fault::Other {
            reason: disorder.reason,
            mend: disorder.mend.to_owned(),
        })?;
        Ok(event)
    }

    /// The refusal of what begins at `start`.
    pub(super) fn refuse(&self, start: Place, fault: Fault) -> ReadError {
        match fault {
            Fault::Json(error) => {
                let place = within(start, &error);
                place.refuse(self.file, reason(&error), mend(&error))
            }
            Fault::Other { reason, mend } => start.refuse(self.file, reason, mend),
        }
    }
}

/// The header that stands there, if it is one.
fn header(bytes: &[u8]) -> Result<Option<Header>, Fault> {
    if !line::is_header(bytes).map_err(Fault::Json)? {
        return Ok(None);
    }
    let header: Header = serde_json::from_slice(bytes).map_err(|error| Fault::Other {
        reason: format!("the header cannot be read: {}", reason(&error)),
        mend: format!(
            "begin it with {{\"format\":\"{FORMAT}\",\"version\":{VERSION}}}, or leave it out"
        ),
    })?;
    if header.format != FORMAT {
        return Err(Fault::Other {
            reason: format!("the format is {:?}, not {FORMAT:?}", header.format),
            mend: "convert the history, or correct its header".to_owned(),
        });
    }
    if !(1..=VERSION).contains(&header.version) {
        return Err(Fault::Other {
            reason: format!(
                "version {} of the format is not supported, only 1 to {VERSION}",
                header.version
            ),
            mend: "use the version of lockstorm that wrote it".to_owned(),
        });
    }
    Ok(Some(header))
}

/// Where in the file the parser stopped, which counts from `start`.
fn within(start: Place, error: &serde_json::Error) -> Place {
    let lines = error.line().saturating_sub(1) as u64;
    let before = if lines == 0 {
        start.column.saturating_sub(1)
    } else {
        0
    };
    Place {
        line: start.line + lines,
        column: before + error.column(),
    }
}

/// What `serde_json` says, without the place, which counts from the start of the event.
pub(super) fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).unwrap_or(&text).to_owned()
}

fn mend(error: &serde_json::Error) -> &'static str {
    match error.classify() {
        serde_json::error::Category::Data => "correct the field",
        serde_json::error::Category::Syntax
        | serde_json::error::Category::Eof
        | serde_json::error::Category::Io => "every event must be one JSON object; repair this one",
    }
}
