//! One line of a history file → one event, without a tree of JSON values in between.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, de};
use serde_json::{Map, Value as Json};

use crate::history::{Event, Function, Kind, Name, Nanos, Process, Value};
use crate::names::Names;

/// An event as it stands in a file: index and time may be absent.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) index: Option<u64>,
    pub(super) time: Option<u64>,
    kind: Kind,
    process: Process,
    function: Function,
    key: Option<Name>,
    value: Value,
    error: Option<Name>,
    extra: Option<Box<Map<String, Json>>>,
}

impl Line {
    /// The event, given the position of the line among the events.
    pub(super) fn into_event(self, position: u64, names: &mut Names) -> Event {
        let index = self.index.unwrap_or(position);
        Event {
            index,
            time: Nanos(self.time.unwrap_or(index)),
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

/// Whether a line is a header: an object with a field `format`.
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

/// A process: a number, or `"nemesis"`.
struct ProcessVisitor;

impl<'de> DeserializeSeed<'de> for ProcessVisitor {
    type Value = Process;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Process, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for ProcessVisitor {
    type Value = Process;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a process: a number from 0, or \"nemesis\"")
    }
    fn visit_u64<E: de::Error>(self, id: u64) -> Result<Process, E> {
        Ok(Process::Client(id))
    }
    fn visit_str<E: de::Error>(self, word: &str) -> Result<Process, E> {
        match word {
            "nemesis" => Ok(Process::Nemesis),
            other => Err(E::invalid_value(de::Unexpected::Str(other), &self)),
        }
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
                "process" => fill(&mut process, Some(map.next_value_seed(ProcessVisitor)?)),
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
        Ok(Line {
            index,
            time,
            kind: kind.ok_or_else(|| A::Error::missing_field("type"))?,
            process: process.ok_or_else(|| A::Error::missing_field("process"))?,
            function: function.ok_or_else(|| A::Error::missing_field("f"))?,
            key,
            value: value.unwrap_or_default(),
            error,
            extra: boxed(extra),
        })
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
        let mut extra = Map::new();
        while let Some(Text(field)) = map.next_key()? {
            let seen = match &*field {
                "owner" => fill(&mut value.owner, shared(&mut map, names)?),
                "mode" => fill(&mut value.mode, map.next_value()?),
                "permits" => fill(&mut value.permits, map.next_value()?),
                "lease_ms" => fill(&mut value.lease_ms, map.next_value()?),
                "wait_ms" => fill(&mut value.wait_ms, map.next_value()?),
                "token" => fill(&mut value.token, map.next_value()?),
                "waited_ns" => fill(&mut value.waited_ns, map.next_value()?),
                "count" => fill(&mut value.count, map.next_value()?),
                "by" => fill(&mut value.by, map.next_value()?),
                "resource" => fill(&mut value.resource, shared(&mut map, names)?),
                // Here null is a value: it is what a read of nothing returns.
                "value" => fill(&mut value.value, Some(map.next_value()?)),
                "route" => fill(&mut value.route, map.next_value()?),
                "role" => fill(&mut value.role, map.next_value()?),
                "view" => fill(&mut value.view, map.next_value()?),
                "command" => fill(&mut value.command, map.next_value()?),
                "fault" => fill(&mut value.fault, map.next_value()?),
                "phase" => fill(&mut value.phase, map.next_value()?),
                other => extra.insert(other.to_owned(), map.next_value()?).is_some(),
            };
            refuse_twice(seen, &field)?;
        }
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
