//! `AtlasDB`'s histories of its lock service: one JSON array of events.
//!
//! ```text
//! [{"f":"lock","process":0,"time":881792479,"type":"invoke","value":"orders"},
//!  {"f":"lock","process":0,"time":894091857,"type":"ok","value":"token 7"}, ...]
//! ```
//!
//! Where the notation leaves something open, it is read in favour of the service:
//! - Its locks run out unless they are refreshed, and nothing says when. Each grant has a lease of
//!   unknown length, so that a lock counts as held only as far as a later refresh proves it.
//! - Its clients write `fail` for a timeout or an error as well. That is indeterminate here, and
//!   the client goes on under another process, as the same owner.
//! - An `ok` whose value is empty or `"false"` is a refusal.

use std::collections::HashMap;
use std::fmt;
use std::io::BufRead;

use serde::de::{DeserializeSeed, Deserializer, Error as _, SeqAccess, Visitor};
use serde_json::Value as Json;
use serde_json::error::Category;

use super::error::ReadError;
use super::intake::{Draft, Intake, Place};
use super::read::Terms;
use super::stamp::Stamp;
use super::{Event, EventSink, Function, Kind, Process, Reading, TornLine, Value};

/// Processes of clients that go on after an indeterminate operation are numbered from here:
/// higher than any process that a run has.
const PROCESS_ANEW: u64 = 1 << 32;

/// Hands on the events of an array.
pub(super) fn stream(
    reader: impl BufRead,
    file: &str,
    terms: Terms,
    sink: &mut impl EventSink,
) -> Result<Reading, ReadError> {
    let mut json = serde_json::Deserializer::from_reader(reader);
    let mut array = Array {
        intake: Intake::new(file, terms, sink),
        clients: HashMap::new(),
        anew: PROCESS_ANEW,
        refusal: None,
    };
    let read = (&mut array).deserialize(&mut json);
    match read.and_then(|()| json.end()) {
        Ok(()) => array.intake.finish(),
        Err(error) => array.end(error),
    }
}

/// An event as it stands in a file. What else stands there repeats what is known.
#[derive(serde::Deserialize)]
struct Line {
    f: String,
    process: i64,
    time: Option<u64>,
    #[serde(rename = "type")]
    kind: Kind,
    value: Option<Json>,
    error: Option<Json>,
}

/// The array as it is read.
struct Array<'a, S> {
    intake: Intake<'a, S>,
    /// The process as which each client goes on.
    clients: HashMap<u64, u64>,
    anew: u64,
    /// Reason why an event was refused; the place is known where the parser stopped.
    refusal: Option<ReadError>,
}

impl<S: EventSink> Array<'_, S> {
    fn take(&mut self, line: Line) -> Result<(), ReadError> {
        let Ok(client) = u64::try_from(line.process) else {
            let function = Function::from(line.f.as_str());
            return self.hand_on(line, function, Process::Nemesis, Kind::Note);
        };
        let function = function(&line.f).ok_or_else(|| self.foreign_function(&line.f))?;
        let names_lock = matches!(line.value, Some(Json::String(_)));
        if line.kind == Kind::Invoke && !names_lock || matches!(line.value, Some(Json::Object(_))) {
            return Err(self.foreign_value(&line));
        }
        let process = *self.clients.entry(client).or_insert(client);
        let mut kind = line.kind;
        if kind == Kind::Fail {
            kind = Kind::Info;
        }
        if kind == Kind::Info {
            self.clients.insert(client, self.anew);
            self.anew += 1;
        }
        self.hand_on(line, function, Process::Client(process), kind)
    }

    fn hand_on(
        &mut self,
        line: Line,
        function: Function,
        process: Process,
        mut kind: Kind,
    ) -> Result<(), ReadError> {
        let is_lock = matches!(
            function,
            Function::Acquire | Function::Renew | Function::Release
        );
        let mut value = Value::default();
        let mut key = None;
        let mut error = line.error.map(|error| self.intake.name(&text(error)));
        match (line.value, kind) {
            (Some(Json::String(name)), Kind::Invoke) if is_lock => {
                key = Some(self.intake.name(&name));
            }
            (answer, Kind::Ok) if is_lock && is_refusal(answer.as_ref()) => {
                kind = Kind::Fail;
                error = Some(self.intake.name(match function {
                    Function::Acquire => Event::REFUSED,
                    _ => Event::NOT_OWNER,
                }));
            }
            (content, _) => value.value = content.map(Box::new),
        }
        if is_lock && kind == Kind::Invoke {
            value.owner = Some(self.intake.name(&line.process.to_string()));
            value.lease_ms = (function != Function::Release).then_some(0);
        }
        let draft = Draft {
            index: None,
            time: line.time.map(Stamp::Count),
            kind,
            process,
            function,
            key,
            value,
            error,
            extra: None,
        };
        self.intake.take(draft, Place::START)
    }

    fn foreign_function(&self, word: &str) -> ReadError {
        let reason = format!("AtlasDB's lock service has no function {word:?}");
        let remedy =
            "it has lock, refresh and unlock; Lockstorm's own events are read by --from json";
        Place::START.refuse(self.intake.file, reason, remedy)
    }

    fn foreign_value(&self, line: &Line) -> ReadError {
        let reason = format!("the value of {} is not the name of a lock", line.f);
        let remedy = "in AtlasDB's events `value` is a text: the lock in an invocation, the answer \
                    in an ok; Lockstorm's own events are read by --from json";
        Place::START.refuse(self.intake.file, reason, remedy)
    }

    /// Interprets the parser's error: a tail that was cut off, or a mistake at its place.
    fn end(self, error: serde_json::Error) -> Result<Reading, ReadError> {
        let place = Place {
            line: error.line() as u64,
            column: error.column(),
        };
        let file = self.intake.file;
        if let Some(ReadError::Malformed { reason, remedy, .. }) = self.refusal {
            return Err(place.refuse(file, reason, remedy));
        }
        let said = error.to_string();
        let at = format!(" at line {} column {}", place.line, place.column);
        let reason = said.strip_suffix(&at).unwrap_or(&said).to_owned();
        match error.classify() {
            Category::Io => Err(ReadError::Io {
                file: file.to_owned(),
                line: place.line,
                cause: error.into(),
            }),
            Category::Eof => {
                let mut reading = self.intake.finish()?;
                reading.torn = Some(TornLine {
                    line: place.line,
                    bytes: place.column,
                    reason,
                });
                Ok(reading)
            }
            Category::Syntax | Category::Data => {
                let remedy =
                    "write one array of events, each with f, process, time, type and value";
                Err(place.refuse(file, reason, remedy))
            }
        }
    }
}

impl<'de, S: EventSink> DeserializeSeed<'de> for &mut Array<'_, S> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, S: EventSink> Visitor<'de> for &mut Array<'_, S> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of events")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut events: A) -> Result<(), A::Error> {
        while let Some(line) = events.next_element()? {
            if let Err(refusal) = self.take(line) {
                self.refusal = Some(refusal);
                return Err(A::Error::custom("the event is refused"));
            }
        }
        Ok(())
    }
}

/// Returns our function for one of `AtlasDB`'s.
pub(super) fn function(word: &str) -> Option<Function> {
    match word {
        "lock" => Some(Function::Acquire),
        "refresh" => Some(Function::Renew),
        "unlock" => Some(Function::Release),
        _ => None,
    }
}

/// Tells whether the service's answer means that it did not do what was asked.
fn is_refusal(answer: Option<&Json>) -> bool {
    match answer {
        None | Some(Json::Null | Json::Bool(false)) => true,
        Some(Json::String(text)) => text.is_empty() || text == "false",
        Some(Json::Array(items)) => items.is_empty(),
        Some(Json::Bool(true) | Json::Number(_) | Json::Object(_)) => false,
    }
}

fn text(json: Json) -> String {
    match json {
        Json::String(text) => text,
        other => other.to_string(),
    }
}
