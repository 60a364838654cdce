//! Events → EDN, as Jepsen, Knossos and Elle read it: one plain map a line.

use std::collections::HashMap;

use serde_json::Value as Json;

use super::value::{RESERVED, is_about_lock};
use crate::history::{Event, Function, Kind, Mode, Ownership, Process, Until, Value};

/// Way to write a release that the server refused because the caller was not the owner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RefusedRelease {
    /// As `:fail`: the server did nothing.
    #[default]
    Fail,
    /// As `:ok`: the critical section is over. A model that knows no leases wants this, for it
    /// would take a lock that ran out to be held forever.
    Ok,
}

/// Style in which events are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EdnStyle {
    /// Only `:acquire` and `:release`, with nil values: what Knossos's `mutex` model knows.
    pub bare: bool,
    /// Way to write a refused release.
    pub refused_release: RefusedRelease,
}

/// Writes the events of one history.
///
/// What a history says in its header has no place in EDN. A client's note becomes an event of the
/// nemesis, for Jepsen knows no other that is not part of an operation.
#[derive(Debug, Default)]
pub struct EdnWriter {
    style: EdnStyle,
    /// Value that each process asked for: a fail or an info repeats it, and so does the ok of a
    /// write that lacks it.
    pending: HashMap<u64, Value>,
}

impl EdnWriter {
    /// A writer of that style.
    pub fn new(style: EdnStyle) -> Self {
        Self {
            style,
            pending: HashMap::new(),
        }
    }

    /// Appends an event as one line; nothing where the style leaves it out.
    pub fn write(&mut self, out: &mut Vec<u8>, event: &Event) {
        let is_bare = matches!(event.function, Function::Acquire | Function::Release)
            && event.kind != Kind::Note
            && event.process != Process::Nemesis;
        if self.style.bare && !is_bare {
            return;
        }
        let mut map = Entries::new(out);
        map.json("index", &event.index.into());
        map.json("time", &event.time.0.into());
        map.raw("type", self.kind(event));
        match event.process {
            Process::Client(process) if event.kind != Kind::Note => {
                map.json("process", &process.into());
            }
            Process::Client(_) | Process::Nemesis => map.raw("process", ":nemesis"),
        }
        map.raw("f", ":");
        word(map.out, event.function.as_str());
        if self.style.bare {
            map.raw("value", "nil");
        } else {
            if !event.key.is_empty() {
                map.json("key", &(*event.key).into());
            }
            self.values(&mut map, event);
        }
        if let Some(error) = &event.error {
            map.error(error);
        }
        for (field, content) in event.extra.iter().flat_map(|extra| extra.iter()) {
            if !self.style.bare {
                map.extra(field, content);
            }
        }
        map.end();
        out.push(b'\n');
    }

    fn kind(&self, event: &Event) -> &'static str {
        let ok = self.style.refused_release == RefusedRelease::Ok;
        let refused = event.function == Function::Release
            && event.kind == Kind::Fail
            && event.error.as_deref() == Some(Event::NOT_OWNER);
        match event.kind {
            Kind::Fail if ok && refused => ":ok",
            Kind::Invoke => ":invoke",
            Kind::Ok => ":ok",
            Kind::Fail => ":fail",
            Kind::Info | Kind::Note => ":info",
        }
    }

    /// The value of the event, and the reply where a fail or an info repeats what was asked.
    fn values(&mut self, map: &mut Entries, event: &Event) {
        let function = &event.function;
        match (event.kind, event.process) {
            (Kind::Note, _) | (_, Process::Nemesis) => {
                let client = match event.process {
                    Process::Client(client) => Some(client),
                    Process::Nemesis => None,
                };
                map.key("value");
                fields(map.out, &event.value, client);
            }
            (Kind::Invoke, Process::Client(process)) => {
                map.value(&event.value, function, Kind::Invoke);
                self.pending.insert(process, event.value.clone());
            }
            (Kind::Ok, Process::Client(process)) => {
                // The reply to a write need not repeat what was written, but Knossos counts on it.
                let mut value = event.value.clone();
                let asked = self.pending.remove(&process).unwrap_or_default();
                if value.value.is_none() && *function != Function::Read && !is_about_lock(function)
                {
                    value.value = asked.value;
                }
                map.value(&value, function, Kind::Ok);
            }
            (Kind::Fail | Kind::Info, Process::Client(process)) => {
                let asked = self.pending.remove(&process).unwrap_or_default();
                map.contents(&asked, function, Kind::Invoke);
                if event.value != Value::default() {
                    map.key("reply");
                    fields(map.out, &event.value, None);
                }
            }
        }
    }
}

/// A map that is being written.
struct Entries<'a> {
    out: &'a mut Vec<u8>,
    empty: bool,
}

impl<'a> Entries<'a> {
    fn new(out: &'a mut Vec<u8>) -> Self {
        out.push(b'{');
        Self { out, empty: true }
    }

    fn comma(&mut self) {
        if !self.empty {
            self.out.extend_from_slice(b", ");
        }
        self.empty = false;
    }

    fn key(&mut self, name: &str) {
        self.comma();
        if is_word(name) {
            self.out.push(b':');
            self.out.extend_from_slice(name.as_bytes());
        } else {
            json(self.out, &name.into());
        }
        self.out.push(b' ');
    }

    fn raw(&mut self, name: &str, text: &str) {
        self.key(name);
        self.out.extend_from_slice(text.as_bytes());
    }

    fn json(&mut self, name: &str, content: &Json) {
        self.key(name);
        json(self.out, content);
    }

    /// A field of others, which must not be taken for one of ours.
    fn extra(&mut self, name: &str, content: &Json) {
        if RESERVED.contains(&name) {
            self.comma();
            json(self.out, &name.into());
            self.out.push(b' ');
            json(self.out, content);
        } else {
            self.json(name, content);
        }
    }

    /// The two refusals are keywords, as Jepsen's errors are; any other text stays one.
    fn error(&mut self, error: &str) {
        if matches!(error, Event::REFUSED | Event::NOT_OWNER) {
            self.raw("error", ":");
            word(self.out, error);
        } else {
            self.json("error", &error.into());
        }
    }

    /// The value of an operation: the fields of a lock's, the contents of a resource's.
    fn contents(&mut self, value: &Value, function: &Function, kind: Kind) {
        match &value.value {
            _ if is_about_lock(function) => {
                self.key("value");
                fields(self.out, value, None);
            }
            Some(content) => self.json("value", content),
            None if *function == Function::Read && kind == Kind::Invoke => self.raw("value", "nil"),
            None => {}
        }
    }

    /// Writes the value of an operation and, for a resource, its name and the token.
    fn value(&mut self, value: &Value, function: &Function, kind: Kind) {
        self.contents(value, function, kind);
        if is_about_lock(function) {
            return;
        }
        if let Some(resource) = &value.resource {
            self.json("resource", &(**resource).into());
        }
        if let Some(token) = value.token {
            self.json("token", &token.into());
        }
    }

    fn end(self) {
        self.out.push(b'}');
    }
}

/// The fields of a value as a map; nil if it has none.
fn fields(out: &mut Vec<u8>, value: &Value, client: Option<u64>) {
    if *value == Value::default() && client.is_none() {
        out.extend_from_slice(b"nil");
        return;
    }
    let mut map = Entries::new(out);
    let mut number = |name: &str, number: Option<u64>| {
        if let Some(number) = number {
            map.json(name, &number.into());
        }
    };
    number("client", client);
    number("permits", value.permits.map(u64::from));
    number("lease-ms", value.lease_ms);
    number("wait-ms", value.wait_ms);
    number("token", value.token);
    number("waited-ns", value.waited_ns);
    number("count", value.count.map(u64::from));
    if let Some(owner) = &value.owner {
        map.json("owner", &(**owner).into());
    }
    match value.mode {
        Some(Mode::Write) => map.raw("mode", ":write"),
        Some(Mode::Read) => map.raw("mode", ":read"),
        None => {}
    }
    if value.by_harness {
        map.raw("by-harness", "true");
    }
    if value.by_library {
        map.raw("by-library", "true");
    }
    match value.ownership {
        Some(Ownership::Unknown) => map.raw("ownership", ":unknown"),
        None => {}
    }
    match value.until {
        Some(Until::SessionEnd) => map.raw("until", ":session-end"),
        None => {}
    }
    if let Some(resource) = &value.resource {
        map.json("resource", &(**resource).into());
    }
    if let Some(content) = &value.value {
        map.json("value", content);
    }
    let notes = [
        ("by", value.by.as_ref().map(serde_json::to_value)),
        ("route", value.route.as_ref().map(serde_json::to_value)),
        ("role", value.role.as_ref().map(serde_json::to_value)),
        ("view", value.view.as_ref().map(serde_json::to_value)),
        ("command", value.command.as_ref().map(serde_json::to_value)),
        ("failure", value.failure.as_ref().map(serde_json::to_value)),
        ("expired", value.expired.as_ref().map(serde_json::to_value)),
        ("stall", value.stall.as_ref().map(serde_json::to_value)),
        ("fault", value.fault.as_ref().map(serde_json::to_value)),
        ("phase", value.phase.as_ref().map(serde_json::to_value)),
    ];
    for (name, note) in notes {
        if let Some(Ok(note)) = note {
            map.json(name, &note);
        }
    }
    for (name, content) in value.extra.iter().flat_map(|extra| extra.iter()) {
        map.extra(name, content);
    }
    map.end();
}

fn json(out: &mut Vec<u8>, content: &Json) {
    match content {
        Json::Null => out.extend_from_slice(b"nil"),
        Json::Array(items) => {
            out.push(b'[');
            for (n, item) in items.iter().enumerate() {
                if n > 0 {
                    out.push(b' ');
                }
                json(out, item);
            }
            out.push(b']');
        }
        Json::Object(entries) => {
            let mut map = Entries::new(out);
            for (key, item) in entries {
                map.json(key, item);
            }
            map.end();
        }
        Json::Bool(_) | Json::Number(_) | Json::String(_) => {
            out.extend_from_slice(content.to_string().as_bytes());
        }
    }
}

/// A keyword's name; characters that it may not have become `-`.
fn word(out: &mut Vec<u8>, name: &str) {
    let plain = name.chars().map(|c| if is_plain(c) { c } else { '-' });
    let name: String = plain.collect();
    let name = if name.is_empty() { "none" } else { &name };
    out.extend_from_slice(name.as_bytes());
}

/// Tells whether a name can be a keyword as it stands.
fn is_word(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic()) && name.chars().all(is_plain)
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-_*+!?.".contains(c)
}
