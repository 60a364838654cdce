//! The `:value` of an event → what the checker knows of values.
//!
//! The notation leaves open what a value means; for locks these conventions are understood:
//!
//! | `:value` of `:acquire`, `:renew`, `:release` | read as |
//! |---|---|
//! | `nil` | nothing more is said |
//! | `"orders"`, `:orders`, `3` in an invocation | the lock's key |
//! | `["orders" v]` | the lock's key, and `v` as here |
//! | `{:owner "a", :token 17, :lease-ms 2000, ...}` | the fields of that name |
//!
//! For everything else the value is what is read or written, as it stands.

use serde::de::DeserializeOwned;
use serde_json::Map;

use super::form::Form;
use crate::history::date::nanos_since_1970;
use crate::history::stamp::Stamp;
use crate::history::{Function, Kind, Mode, Ownership, Until, Value};

/// Keywords that mean something in an event or in a value. The same words in quotes are names like
/// any other: those are fields of others, which are only kept.
pub(super) const RESERVED: [&str; 40] = [
    "by",
    "by-harness",
    "by_harness",
    "by-library",
    "by_library",
    "client",
    "command",
    "count",
    "error",
    "f",
    "failure",
    "fault",
    "fence",
    "index",
    "key",
    "lease-ms",
    "lease_ms",
    "lock",
    "mode",
    "owner",
    "ownership",
    "permits",
    "phase",
    "process",
    "reply",
    "resource",
    "role",
    "route",
    "expired",
    "stall",
    "time",
    "token",
    "type",
    "until",
    "value",
    "view",
    "wait-ms",
    "wait_ms",
    "waited-ns",
    "waited_ns",
];

/// A value that cannot be what its field asks for.
#[derive(Debug)]
pub(super) struct Misfit {
    pub(super) field: String,
    pub(super) found: &'static str,
    pub(super) wanted: &'static str,
}

/// Information that a value carries.
#[derive(Debug, Default)]
pub(super) struct Meaning {
    pub(super) value: Value,
    pub(super) key: Option<String>,
    /// Process of a client's note that stands among the events of the nemesis.
    pub(super) client: Option<u64>,
}

/// Tells whether values of this function describe a lock and not the contents of a resource.
pub(super) fn is_about_lock(function: &Function) -> bool {
    match function {
        Function::Acquire
        | Function::Renew
        | Function::Release
        | Function::Queued
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
        | Function::Phase => true,
        Function::Read
        | Function::Write
        | Function::Cas
        | Function::Append
        | Function::Other(_) => false,
    }
}

/// Reads the value of an event.
pub(super) fn meaning(form: Form, function: &Function, kind: Kind) -> Result<Meaning, Misfit> {
    if matches!(
        function,
        Function::Fault
            | Function::Phase
            | Function::Routed
            | Function::Role
            | Function::View
            | Function::Command
            | Function::Failure
            | Function::Expired
            | Function::Stall
    ) {
        // Others may mean something else by these words, and then it is theirs.
        let foreign = |_| Ok(contents(form.clone()));
        return of_fields(form.clone(), kind).or_else(foreign);
    }
    if is_about_lock(function) {
        return of_fields(form, kind);
    }
    // Nobody asks to read nil: an invocation without contents is written so.
    let is_empty = form == Form::Nil
        && match kind {
            Kind::Invoke => *function == Function::Read,
            Kind::Ok => false,
            Kind::Fail | Kind::Info | Kind::Note => true,
        };
    Ok(Meaning {
        value: Value {
            value: (!is_empty).then(|| Box::new(form.into_json())),
            ..Value::default()
        },
        ..Meaning::default()
    })
}

/// Reads a value whose fields have names.
pub(super) fn of_fields(form: Form, kind: Kind) -> Result<Meaning, Misfit> {
    match form {
        Form::Nil => Ok(Meaning::default()),
        Form::Map(entries) => of_map(entries),
        Form::Vector(mut pair) if pair.len() == 2 && pair[0].name().is_some() => {
            let inner = pair.pop().unwrap_or(Form::Nil);
            let key = pair[0].name();
            // Within a pair, anything but a map is contents: the key is said already.
            let mut meaning = match inner {
                Form::Nil => Meaning::default(),
                Form::Map(entries) => of_map(entries)?,
                other @ (Form::Bool(_)
                | Form::Number(_)
                | Form::Text(_)
                | Form::Word(_)
                | Form::Vector(_)) => contents(other),
            };
            meaning.key = meaning.key.or(key);
            Ok(meaning)
        }
        Form::Text(_) | Form::Word(_) | Form::Number(_) if kind == Kind::Invoke => Ok(Meaning {
            key: form.name(),
            ..Meaning::default()
        }),
        other @ (Form::Bool(_)
        | Form::Number(_)
        | Form::Text(_)
        | Form::Word(_)
        | Form::Vector(_)) => Ok(contents(other)),
    }
}

fn contents(form: Form) -> Meaning {
    Meaning {
        value: Value {
            value: Some(Box::new(form.into_json())),
            ..Value::default()
        },
        ..Meaning::default()
    }
}

fn of_map(entries: Vec<(Form, Form)>) -> Result<Meaning, Misfit> {
    let mut meaning = Meaning::default();
    let value = &mut meaning.value;
    let mut extra = Map::new();
    for (key, form) in entries {
        if let Form::Text(name) = key {
            extra.insert(name, form.into_json());
            continue;
        }
        let field = key.into_text();
        if form == Form::Nil && field != "value" {
            continue;
        }
        match field.as_str() {
            "key" | "lock" => meaning.key = Some(form.into_text()),
            "client" if form.natural().is_some() => meaning.client = form.natural(),
            "owner" => value.owner = Some(form.into_text().into()),
            "mode" => value.mode = Some(mode(&field, &form)?),
            "permits" => value.permits = Some(small(&field, &form)?),
            "lease-ms" | "lease_ms" => value.lease_ms = Some(natural(&field, &form)?),
            "wait-ms" | "wait_ms" => value.wait_ms = Some(natural(&field, &form)?),
            "token" | "fence" => value.token = Some(natural(&field, &form)?),
            "waited-ns" | "waited_ns" => value.waited_ns = Some(natural(&field, &form)?),
            "count" => value.count = Some(small(&field, &form)?),
            "by" => value.by = Some(note(&field, form)?),
            "by-harness" | "by_harness" => value.by_harness = flag(&field, &form)?,
            "by-library" | "by_library" => value.by_library = flag(&field, &form)?,
            "ownership" => value.ownership = Some(ownership(&field, &form)?),
            "until" => value.until = Some(until(&field, &form)?),
            "resource" => value.resource = Some(form.into_text().into()),
            "value" => value.value = Some(Box::new(form.into_json())),
            "route" => value.route = Some(note(&field, form)?),
            "role" => value.role = Some(note(&field, form)?),
            "view" => value.view = Some(note(&field, form)?),
            "command" => value.command = Some(note(&field, form)?),
            "failure" => value.failure = Some(note(&field, form)?),
            "expired" => value.expired = Some(note(&field, form)?),
            "stall" => value.stall = Some(note(&field, form)?),
            "fault" => value.fault = Some(note(&field, form)?),
            "phase" => value.phase = Some(note(&field, form)?),
            _ => {
                extra.insert(field, form.into_json());
            }
        }
    }
    value.extra = (!extra.is_empty()).then(|| Box::new(extra));
    Ok(meaning)
}

fn note<T: DeserializeOwned>(field: &str, form: Form) -> Result<Box<T>, Misfit> {
    let wanted = "the note as in Lockstorm's own histories";
    let misfit = misfit(field, &form, wanted);
    serde_json::from_value(form.into_json()).map_err(|_| misfit)
}

fn ownership(field: &str, form: &Form) -> Result<Ownership, Misfit> {
    match form.text() {
        Some("unknown") => Ok(Ownership::Unknown),
        Some(_) | None => Err(misfit(field, form, ":unknown")),
    }
}

fn until(field: &str, form: &Form) -> Result<Until, Misfit> {
    match form.text() {
        Some("session-end") => Ok(Until::SessionEnd),
        Some(_) | None => Err(misfit(field, form, ":session-end")),
    }
}

fn flag(field: &str, form: &Form) -> Result<bool, Misfit> {
    match form {
        Form::Bool(flag) => Ok(*flag),
        _ => Err(misfit(field, form, "true or false")),
    }
}

pub(super) fn natural(field: &str, form: &Form) -> Result<u64, Misfit> {
    form.natural()
        .ok_or_else(|| misfit(field, form, "a whole number from 0"))
}

/// A time: a number, or a date, whose tag `#inst` says no more than its text does.
pub(super) fn stamp(field: &str, form: &Form) -> Result<Stamp, Misfit> {
    let date = || nanos_since_1970(form.text()?).map(Stamp::Date);
    let stamp = form.natural().map(Stamp::Count).or_else(date);
    stamp.ok_or_else(|| {
        let wanted = "a whole number from 0, or a date as in #inst \"2026-01-31T23:59:59.123Z\"";
        misfit(field, form, wanted)
    })
}

fn small(field: &str, form: &Form) -> Result<u32, Misfit> {
    natural(field, form)?
        .try_into()
        .map_err(|_| misfit(field, form, "a whole number below four billion"))
}

fn mode(field: &str, form: &Form) -> Result<Mode, Misfit> {
    match form.text() {
        Some("write") => Ok(Mode::Write),
        Some("read") => Ok(Mode::Read),
        Some(_) | None => Err(misfit(field, form, ":write or :read")),
    }
}

pub(super) fn misfit(field: &str, form: &Form, wanted: &'static str) -> Misfit {
    Misfit {
        field: field.to_owned(),
        found: form.kind(),
        wanted,
    }
}
