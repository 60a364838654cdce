//! One line of a history file → one event, without a tree of JSON values in between.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, de};
use serde_json::{Map, Value as Json};

use crate::history::names::Names;
use crate::history::near::{NEEDED_FIELDS, NEMESIS, nearest};
use crate::history::stamp::Stamp;
use crate::history::{Event, Function, Kind, Name, Nanos, Process, Value};

/// An event as it stands in a file: index and time may be absent.
#[derive(Debug, PartialEq)]
pub(super) struct Line {
    pub(super) index: Option<u64>,
    pub(super) time: Option<Stamp>,
    pub(super) kind: Kind,
    pub(super) process: Process,
    /// The name by which the process goes that has no number.
    pub(super) client: Option<Name>,
    pub(super) function: Function,
    pub(super) key: Option<Name>,
    pub(super) value: Value,
    pub(super) error: Option<Name>,
    pub(super) extra: Option<Box<Map<String, Json>>>,
}

impl Line {
    /// The event, given the position of the line among the events. Its time is the number that
    /// stands there, whatever that counts; a process with a name has no number yet.
    pub(super) fn into_event(self, position: u64, names: &mut Names) -> Event {
        let index = self.index.unwrap_or(position);
        Event {
            index,
            time: Nanos(match self.time {
                Some(Stamp::Count(count)) => count,
                Some(Stamp::Fraction(_) | Stamp::Date(_)) | None => index,
            }),
            kind: self.kind,
            process: self.process,
            function: self.function,
            key: self.key.unwrap_or_else(|| names.share("")),
            value: self.value,
            error: self.error,
            extra: self.extra,
        }
    }
}

/// Parses the bytes of one line.
pub(super) fn parse(bytes: &[u8], names: &mut Names) -> Result<Line, serde_json::Error> {
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let line = LineSeed(names).deserialize(&mut json)?;
    json.end()?;
    Ok(line)
}

/// Tells whether a line is a header: an object with a field `format`.
pub(super) fn is_header(bytes: &[u8]) -> Result<bool, serde_json::Error> {
    #[derive(Deserialize)]
    struct Probe {
        format: Option<IgnoredAny>,
    }
    serde_json::from_slice(bytes).map(|probe: Probe| probe.format.is_some())
}

/// A text that is borrowed from the line where it has no escapes.
struct Text<'de>(Cow<'de, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(TextVisitor)
    }
}

/// A process: a number, `"nemesis"`, or the name of a client.
struct ProcessSeed<'a>(&'a mut Names);

/// A process as a line names it.
pub(super) enum Who {
    Process(Process),
    Named(Name),
}

impl Who {
    /// The process, and its name if it has no number yet.
    pub(super) fn parts(self) -> (Process, Option<Name>) {
        match self {
            Self::Process(process) => (process, None),
            Self::Named(name) => (Process::Client(0), Some(name)),
        }
    }
}

/// Returns the process that a text names; `None` if it is empty.
pub(super) fn who(word: &str, names: &mut Names) -> Option<Who> {
    if word == NEMESIS {
        return Some(Who::Process(Process::Nemesis));
    }
    if word.is_empty() {
        return None;
    }
    Some(match word.parse() {
        Ok(id) => Who::Process(Process::Client(id)),
        Err(_) => Who::Named(names.share(word)),
    })
}

impl<'de> DeserializeSeed<'de> for ProcessSeed<'_> {
    type Value = Who;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Who, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for ProcessSeed<'_> {
    type Value = Who;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a process: a number from 0, the name of a client, or \"nemesis\"")
    }
    fn visit_u64<E: de::Error>(self, id: u64) -> Result<Who, E> {
        Ok(Who::Process(Process::Client(id)))
    }
    fn visit_str<E: de::Error>(self, word: &str) -> Result<Who, E> {
        who(word, self.0).ok_or_else(|| E::invalid_value(de::Unexpected::Str(word), &self))
    }
}

/// Reads a text or null, and shares it.
fn shared<'de, A: MapAccess<'de>>(
    map: &mut A,
    names: &mut Names,
) -> Result<Option<Name>, A::Error> {
    let text: Option<Text<'de>> = map.next_value()?;
    Ok(text.map(|Text(text)| names.share(&text)))
}

struct LineSeed<'a>(&'a mut Names);

impl<'de> DeserializeSeed<'de> for LineSeed<'_> {
    type Value = Line;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Line, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for LineSeed<'_> {
    type Value = Line;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an event: a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Line, A::Error> {
        let Self(names) = self;
        let (mut index, mut time, mut key, mut error) = (None, None, None, None);
        let (mut kind, mut process, mut function, mut value) = (None, None, None, None);
        let mut extra = Map::new();
        while let Some(Text(field)) = map.next_key()? {
            let seen = match &*field {
                "index" => fill(&mut index, map.next_value()?),
                "time" => fill(&mut time, map.next_value()?),
                "type" => fill(&mut kind, Some(map.next_value()?)),
                "process" => fill(&mut process, Some(map.next_value_seed(ProcessSeed(names))?)),
                "f" => {
                    let Text(word) = map.next_value()?;
                    fill(&mut function, Some(Function::from(&*word)))
                }
                "key" => fill(&mut key, shared(&mut map, names)?),
                "value" => fill(&mut value, Some(map.next_value_seed(ValueSeed(names))?)),
                "error" => fill(&mut error, shared(&mut map, names)?),
                other => extra.insert(other.to_owned(), map.next_value()?).is_some(),
            };
            refuse_twice(seen, &field)?;
        }
        let who: Who = process.ok_or_else(|| lacking("process", &extra))?;
        let (process, client) = who.parts();
        Ok(Line {
            index,
            time,
            kind: kind.ok_or_else(|| lacking("type", &extra))?,
            process,
            client,
            function: function.ok_or_else(|| lacking("f", &extra))?,
            key,
            value: value.unwrap_or_default(),
            error,
            extra: boxed(extra),
        })
    }
}

/// The error for a field that must be there, with the one that may be meant for it.
fn lacking<E: de::Error>(field: &'static str, extra: &Map<String, Json>) -> E {
    let meant = extra
        .keys()
        .find(|name| nearest(name, &NEEDED_FIELDS) == Some(field));
    match meant {
        Some(name) => E::custom(format_args!(
            "missing field `{field}`: did you mean it by {name:?}?"
        )),
        None => E::missing_field(field),
    }
}

fn boxed(extra: Map<String, Json>) -> Option<Box<Map<String, Json>>> {
    (!extra.is_empty()).then(|| Box::new(extra))
}

struct ValueSeed<'a>(&'a mut Names);

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = Value;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value: a JSON object or null")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let Self(names) = self;
        let mut value = Value::default();
        let (mut by_harness, mut by_library, mut extra) = (None, None, Map::new());
        while let Some(Text(field)) = map.next_key()? {
            let seen = match &*field {
                "owner" => fill(&mut value.owner, shared(&mut map, names)?),
                "mode" => fill(&mut value.mode, map.next_value()?),
                "permits" => fill(&mut value.permits, map.next_value()?),
                "lease_ms" => fill(&mut value.lease_ms, map.next_value()?),
                "until" => fill(&mut value.until, map.next_value()?),
                "wait_ms" => fill(&mut value.wait_ms, map.next_value()?),
                "token" => fill(&mut value.token, map.next_value()?),
                "waited_ns" => fill(&mut value.waited_ns, map.next_value()?),
                "count" => fill(&mut value.count, map.next_value()?),
                "by" => fill(&mut value.by, map.next_value()?),
                "by_harness" => fill(&mut by_harness, map.next_value()?),
                "by_library" => fill(&mut by_library, map.next_value()?),
                "ownership" => fill(&mut value.ownership, map.next_value()?),
                "resource" => fill(&mut value.resource, shared(&mut map, names)?),
                // Here null is a value: it is what a read of nothing returns.
                "value" => fill(&mut value.value, Some(map.next_value()?)),
                "route" => fill(&mut value.route, map.next_value()?),
                "role" => fill(&mut value.role, map.next_value()?),
                "view" => fill(&mut value.view, map.next_value()?),
                "command" => fill(&mut value.command, map.next_value()?),
                "failure" => fill(&mut value.failure, map.next_value()?),
                "expired" => fill(&mut value.expired, map.next_value()?),
                "stall" => fill(&mut value.stall, map.next_value()?),
                "fault" => fill(&mut value.fault, map.next_value()?),
                "phase" => fill(&mut value.phase, map.next_value()?),
                other => extra.insert(other.to_owned(), map.next_value()?).is_some(),
            };
            refuse_twice(seen, &field)?;
        }
        value.by_harness = by_harness == Some(true);
        value.by_library = by_library == Some(true);
        value.extra = boxed(extra);
        Ok(value)
    }
}

/// Fills a field; whether something stood there already.
fn fill<T>(slot: &mut Option<T>, value: Option<T>) -> bool {
    std::mem::replace(slot, value).is_some()
}

/// Of two equal fields one would be forgotten, and nobody knows which one was meant.
fn refuse_twice<E: de::Error>(seen: bool, field: &str) -> Result<(), E> {
    if seen {
        return Err(E::custom(format_args!("duplicate field `{field}`")));
    }
    Ok(())
}
