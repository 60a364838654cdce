//! Refuses what would be read as something that its writer did not mean.
//!
//! For: histories of others, in which a field or a word that is nearly ours would be passed over in
//! silence and change the verdict. Not for: what cannot be mistaken, which is counted.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json};

use super::error::ReadError;
use super::event::{Event, Function, Kind, Process};
use super::header::Header;
use super::near::{
    CALLS, CLIENT_NOTES, EVENT_FIELDS, Known, NEMESIS_NOTES, NOT_OWNER, REFUSED, VALUE_FIELDS,
    nearest,
};
use super::read::Terms;
use super::survey::Survey;

/// Largest number of names of fields that are kept for the warning.
const NAMED_MAX: usize = 20;

/// Longest note, and longest header, in bytes: pages and pictures show what stands in them.
const SHOWN_BYTES_MAX: usize = 256 << 10;

/// Tells whether a note of this function carries texts beside the key and the owner, both of which
/// are shown short.
pub(super) fn tells_texts(function: &str) -> bool {
    !CLIENT_NOTES_OF_A_LOCK.contains(&function)
}

/// Notes that say no more than which owner and which lock.
const CLIENT_NOTES_OF_A_LOCK: [&str; 3] = ["alive", "lost", "queued"];

/// Refuses a note or a header (`what`) of so many bytes, where that is too long.
///
/// # Errors
/// What is wrong, and what to do about it.
pub(super) fn bounded(what: &str, bytes: usize) -> Result<(), (String, String)> {
    if bytes <= SHOWN_BYTES_MAX {
        return Ok(());
    }
    let reason = format!("a {what} must have at most {SHOWN_BYTES_MAX} bytes, not {bytes}");
    Err((reason, "shorten its names and texts".to_owned()))
}

/// Reason why an event is refused.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Objection {
    pub(super) reason: String,
    pub(super) remedy: String,
    /// The word that it is about.
    pub(super) word: String,
}

/// Fields that stand in a history and are not read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unread {
    /// Number of events that have such fields.
    pub events: u64,
    /// Names of the fields; of very many, those that were met first.
    pub fields: BTreeSet<String>,
}

/// Follows a history event by event.
#[derive(Debug, Default)]
pub(super) struct Guard {
    /// `true` if a word that is nearly ours is refused.
    is_strict: bool,
    /// `true` if the errors are those of locks that were run here: what they say is known.
    is_recorded: bool,
    unread: Unread,
    /// Survey of what is known of its times, where nobody said what they count.
    survey: Option<Survey>,
}

impl Guard {
    pub(super) fn new(terms: Terms) -> Self {
        Self {
            is_strict: terms.is_strict,
            survey: (terms.is_strict && terms.unit.is_none()).then(Survey::default),
            ..Self::default()
        }
    }

    /// Takes the header, of which fields of others are nobody's business.
    pub(super) fn header(&mut self, header: &Header) {
        self.is_recorded = header.is_recorded();
        if self.is_recorded {
            self.survey = None;
        }
    }

    /// Returns what nobody read, at the end of the history in `file`.
    ///
    /// # Errors
    /// When its times can hardly be what they were taken for.
    pub(super) fn finish(self, file: &str) -> Result<Unread, ReadError> {
        match self.survey.as_ref().and_then(Survey::doubt) {
            Some(doubt) => Err(ReadError::Times {
                file: file.to_owned(),
                doubt,
            }),
            None => Ok(self.unread),
        }
    }

    /// Takes the next event.
    ///
    /// # Errors
    /// When a word of it is nearly one that would change the verdict.
    pub(super) fn push(&mut self, event: &Event) -> Result<(), Objection> {
        if !self.is_strict {
            return Ok(());
        }
        function(event)?;
        if let Some(extra) = &event.extra {
            fields_of_event(event, extra)?;
        }
        if let Some(extra) = &event.value.extra {
            fields_of_value(event, extra)?;
        }
        if !self.is_recorded {
            answer(event)?;
        }
        if event.value.permits == Some(0) {
            return Err(Objection {
                reason: "`permits` is 0".to_owned(),
                remedy: "write how many permits are asked for, from 1; absent means 1".to_owned(),
                word: "permits".to_owned(),
            });
        }
        self.count(event);
        if let Some(survey) = &mut self.survey {
            survey.push(event);
        }
        Ok(())
    }

    fn count(&mut self, event: &Event) {
        let unread = [&event.extra, &event.value.extra];
        let names = unread.iter().filter_map(|extra| extra.as_deref());
        let mut names = names.flat_map(Map::keys).peekable();
        if names.peek().is_none() {
            return;
        }
        self.unread.events += 1;
        for name in names {
            if self.unread.fields.len() < NAMED_MAX && !self.unread.fields.contains(name) {
                self.unread.fields.insert(name.clone());
            }
        }
    }
}

/// Checks that the event's function is one that an event of its sort can have.
fn function(event: &Event) -> Result<(), Objection> {
    let word = event.function.as_str();
    let refuse = |reason: String, remedy: String| {
        Err(Objection {
            reason,
            remedy,
            word: word.to_owned(),
        })
    };
    match (event.process, event.kind) {
        (Process::Nemesis, Kind::Note) => match nearest(word, &NEMESIS_NOTES) {
            Some(near) => refuse(
                format!("the nemesis has no note {word:?}"),
                format!("did you mean {near:?}?"),
            ),
            None => Ok(()),
        },
        (Process::Nemesis, kind) => refuse(
            format!("an event of the nemesis has the type {:?}", type_word(kind)),
            "write the type \"note\", or name the client that it belongs to".to_owned(),
        ),
        (Process::Client(_), Kind::Note) if is_client_note(&event.function) => Ok(()),
        (Process::Client(_), Kind::Note) => refuse(
            format!("a client has no note {word:?}"),
            meant(word, &CLIENT_NOTES),
        ),
        (Process::Client(_), _) if is_call(&event.function) => Ok(()),
        (Process::Client(_), _) => refuse(
            format!("a client has no function {word:?}"),
            meant(word, &CALLS),
        ),
    }
}

fn type_word(kind: Kind) -> &'static str {
    match kind {
        Kind::Invoke => "invoke",
        Kind::Ok => "ok",
        Kind::Fail => "fail",
        Kind::Info => "info",
        Kind::Note => "note",
    }
}

/// The help for a word that is none of `known`.
fn meant(word: &str, known: &[Known]) -> String {
    let ours: Vec<_> = known.iter().map(|(ours, _)| *ours).collect();
    let all = ours.join(", ");
    match nearest(word, known) {
        Some(near) => format!("did you mean {near:?}? ({all})"),
        None => format!("write one of {all}"),
    }
}

/// Tells whether a client can invoke it.
fn is_call(function: &Function) -> bool {
    match function {
        Function::Acquire
        | Function::Renew
        | Function::Release
        | Function::Read
        | Function::Write
        | Function::Cas
        | Function::Append => true,
        Function::Queued
        | Function::Lost
        | Function::Suspended
        | Function::Resumed
        | Function::Ended
        | Function::Alive
        | Function::Routed
        | Function::Role
        | Function::View
        | Function::Command
        | Function::Failure
        | Function::Expired
        | Function::Stall
        | Function::Fault
        | Function::Phase
        | Function::Other(_) => false,
    }
}

/// Tells whether it is a note of a client.
fn is_client_note(function: &Function) -> bool {
    match function {
        Function::Queued
        | Function::Lost
        | Function::Suspended
        | Function::Resumed
        | Function::Ended
        | Function::Alive
        | Function::Routed
        | Function::Failure => true,
        Function::Acquire
        | Function::Renew
        | Function::Release
        | Function::Read
        | Function::Write
        | Function::Cas
        | Function::Append
        | Function::Role
        | Function::View
        | Function::Command
        | Function::Expired
        | Function::Stall
        | Function::Fault
        | Function::Phase
        | Function::Other(_) => false,
    }
}

/// Fields of an event: one that is nearly ours is refused where ours is absent.
fn fields_of_event(event: &Event, extra: &Map<String, Json>) -> Result<(), Objection> {
    if event.process == Process::Nemesis {
        return Ok(());
    }
    for name in extra.keys() {
        if bears(event, name) {
            return Err(Objection {
                reason: format!("the field {name:?} stands beside `value`, where nobody reads it"),
                remedy: format!("put it into the value: \"value\":{{{name:?}: …}}"),
                word: name.clone(),
            });
        }
        let Some(near) = nearest(name, &EVENT_FIELDS) else {
            if let Some(near) = nearest(name, &VALUE_FIELDS).filter(|near| bears(event, near)) {
                return Err(Objection {
                    reason: format!("an event has no field {name:?}"),
                    remedy: format!(
                        "did you mean {near:?}, in its value: \"value\":{{{near:?}: …}}?"
                    ),
                    word: name.clone(),
                });
            }
            continue;
        };
        let is_absent = match near {
            "key" => event.key.is_empty() && event.kind == Kind::Invoke,
            // A history without times has its positions for them.
            "time" => event.time.0 == event.index,
            "error" => event.error.is_none() && event.kind == Kind::Fail,
            _ => event.value == super::Value::default(),
        };
        if is_absent {
            return Err(misnamed("an event", name, near));
        }
    }
    Ok(())
}

/// Fields of a value: one that is nearly ours is refused where ours is absent and would count.
fn fields_of_value(event: &Event, extra: &Map<String, Json>) -> Result<(), Objection> {
    if event.process == Process::Nemesis {
        return Ok(());
    }
    for name in extra.keys() {
        if name == "key" || nearest(name, &EVENT_FIELDS) == Some("key") {
            if event.key.is_empty() && event.kind == Kind::Invoke {
                return Err(Objection {
                    reason: format!("the lock stands in the value, as {name:?}"),
                    remedy: "name it in the event: \"key\": …, beside `value`".to_owned(),
                    word: name.clone(),
                });
            }
            continue;
        }
        if let Some(near) = nearest(name, &VALUE_FIELDS).filter(|near| bears(event, near)) {
            return Err(misnamed("a value", name, near));
        }
    }
    Ok(())
}

fn misnamed(of: &str, name: &str, near: &str) -> Objection {
    Objection {
        reason: format!("{of} has no field {name:?}"),
        remedy: format!("did you mean {near:?}? (if not, give the field another name)"),
        word: name.to_owned(),
    }
}

/// Tells whether a field of the value would count in this event, and is absent.
fn bears(event: &Event, field: &str) -> bool {
    let value = &event.value;
    let asks = matches!(event.kind, Kind::Invoke | Kind::Note);
    let answers = event.kind == Kind::Ok;
    let is_of_lock = matches!(
        event.function,
        Function::Acquire | Function::Renew | Function::Release
    );
    let extends = matches!(event.function, Function::Acquire | Function::Renew);
    match field {
        "owner" => asks && value.owner.is_none(),
        "lease_ms" => (asks || answers) && extends && value.lease_ms.is_none(),
        "mode" => asks && is_of_lock && value.mode.is_none(),
        "permits" => asks && is_of_lock && value.permits.is_none(),
        "token" => (asks || answers) && value.token.is_none(),
        "waited_ns" => answers && event.function == Function::Acquire && value.waited_ns.is_none(),
        "count" => answers && is_of_lock && value.count.is_none(),
        "value" => is_call(&event.function) && !is_of_lock && value.value.is_none(),
        _ => false,
    }
}

/// Checks the server's answer: only two words of it are understood, and they change a verdict.
fn answer(event: &Event) -> Result<(), Objection> {
    let Some(error) = event.error.as_deref() else {
        return Ok(());
    };
    let known = match event.function {
        Function::Acquire => [REFUSED],
        Function::Renew | Function::Release => [NOT_OWNER],
        _ => return Ok(()),
    };
    let (word, near) = (known[0].0, nearest(error, &known));
    let (reason, remedy) = match (event.kind, near) {
        (Kind::Fail, Some(near)) => (
            format!(
                "{error:?} is not the word for what a server answers to {}",
                event.function.as_str()
            ),
            format!("did you mean {near:?}?"),
        ),
        (Kind::Ok, near) if near.is_some() || error == word => (
            format!("an ok says that it took effect, and its error {error:?} that it did not"),
            format!("write the type \"fail\" with the error {word:?}"),
        ),
        _ => return Ok(()),
    };
    Err(Objection {
        reason,
        remedy,
        word: error.to_owned(),
    })
}
