//! Events → lines. This is on the hot path of a recorder: nothing is allocated but the output.

use crate::history::{Event, Function, Givers, Header, Kind, Mode, Process, Value};

/// Room for nearly every line, so that it grows once and not field by field.
const LINE_USUAL: usize = 256;

/// Appends the header line, line end included.
pub fn write_header(out: &mut Vec<u8>, header: &Header) {
    serde_json::to_writer(&mut *out, header)
        .expect("a header has text keys and memory is writable");
    out.push(b'\n');
}

/// Appends one event as one line, line end included.
///
/// Absent optional values are left out; `key`, `value` and `error` are always there, so that
/// tools which read columns find them.
pub fn write_event(out: &mut Vec<u8>, event: &Event) {
    out.reserve(LINE_USUAL);
    out.extend_from_slice(b"{\"index\":");
    number(out, event.index);
    out.extend_from_slice(b",\"time\":");
    number(out, event.time.0);
    out.extend_from_slice(match event.kind {
        Kind::Invoke => b",\"type\":\"invoke\",\"process\":".as_slice(),
        Kind::Ok => b",\"type\":\"ok\",\"process\":",
        Kind::Fail => b",\"type\":\"fail\",\"process\":",
        Kind::Info => b",\"type\":\"info\",\"process\":",
        Kind::Note => b",\"type\":\"note\",\"process\":",
    });
    match event.process {
        Process::Client(id) => number(out, id),
        Process::Nemesis => out.extend_from_slice(b"\"nemesis\""),
    }
    out.extend_from_slice(b",\"f\":");
    match &event.function {
        Function::Other(word) => text(out, word),
        known => quoted(out, known.as_str()),
    }
    out.extend_from_slice(b",\"key\":");
    text(out, &event.key);
    out.extend_from_slice(b",\"value\":");
    value(out, &event.value);
    out.extend_from_slice(b",\"error\":");
    match &event.error {
        Some(error) => text(out, error),
        None => out.extend_from_slice(b"null"),
    }
    if let Some(extra) = &event.extra {
        for (field, content) in extra.iter() {
            out.push(b',');
            text(out, field);
            out.push(b':');
            json(out, content);
        }
    }
    out.extend_from_slice(b"}\n");
}

fn value(out: &mut Vec<u8>, value: &Value) {
    let mut fields = Fields { out, empty: true };
    if let Some(owner) = &value.owner {
        text(fields.next("owner"), owner);
    }
    if let Some(mode) = value.mode {
        quoted(
            fields.next("mode"),
            match mode {
                Mode::Write => "write",
                Mode::Read => "read",
            },
        );
    }
    if let Some(permits) = value.permits {
        number(fields.next("permits"), permits.into());
    }
    if let Some(lease_ms) = value.lease_ms {
        number(fields.next("lease_ms"), lease_ms);
    }
    if let Some(until) = &value.until {
        json(fields.next("until"), until);
    }
    if let Some(wait_ms) = value.wait_ms {
        number(fields.next("wait_ms"), wait_ms);
    }
    if let Some(token) = value.token {
        number(fields.next("token"), token);
    }
    if let Some(waited_ns) = value.waited_ns {
        number(fields.next("waited_ns"), waited_ns);
    }
    if let Some(count) = value.count {
        number(fields.next("count"), u64::from(count));
    }
    if let Some(by) = &value.by {
        givers(fields.next("by"), by);
    }
    if value.by_harness {
        fields.next("by_harness").extend_from_slice(b"true");
    }
    if value.by_library {
        fields.next("by_library").extend_from_slice(b"true");
    }
    if let Some(ownership) = &value.ownership {
        json(fields.next("ownership"), ownership);
    }
    if let Some(resource) = &value.resource {
        text(fields.next("resource"), resource);
    }
    if let Some(content) = &value.value {
        json(fields.next("value"), content);
    }
    if let Some(route) = &value.route {
        json(fields.next("route"), route);
    }
    if let Some(role) = &value.role {
        json(fields.next("role"), role);
    }
    if let Some(view) = &value.view {
        json(fields.next("view"), view);
    }
    if let Some(command) = &value.command {
        json(fields.next("command"), command);
    }
    if let Some(failure) = &value.failure {
        json(fields.next("failure"), failure);
    }
    if let Some(expired) = &value.expired {
        json(fields.next("expired"), expired);
    }
    if let Some(stall) = &value.stall {
        json(fields.next("stall"), stall);
    }
    if let Some(fault) = &value.fault {
        json(fields.next("fault"), fault);
    }
    if let Some(phase) = &value.phase {
        json(fields.next("phase"), phase);
    }
    if let Some(extra) = &value.extra {
        for (field, content) in extra.iter() {
            json(fields.next(field), content);
        }
    }
    fields.end();
}

fn givers(out: &mut Vec<u8>, givers: &Givers) {
    let mut fields = Fields { out, empty: true };
    for giver in &givers.0 {
        let out = fields.next(&giver.node);
        match &giver.role {
            Some(role) => text(out, role),
            None => out.extend_from_slice(b"null"),
        }
    }
    fields.end();
}

/// An object that is being written.
struct Fields<'a> {
    out: &'a mut Vec<u8>,
    empty: bool,
}

impl Fields<'_> {
    /// Begins the next field; its content is to be appended to the result.
    fn next(&mut self, field: &str) -> &mut Vec<u8> {
        self.out.push(if self.empty { b'{' } else { b',' });
        self.empty = false;
        text(self.out, field);
        self.out.push(b':');
        self.out
    }

    fn end(self) {
        self.out
            .extend_from_slice(if self.empty { b"{}" } else { b"}" });
    }
}

fn number(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// A text that is known to need no escapes.
fn quoted(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    out.extend_from_slice(text.as_bytes());
    out.push(b'"');
}

/// Any text. Nearly all names are plain, and those are copied as they stand.
fn text(out: &mut Vec<u8>, text: &str) {
    let plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
    if text.bytes().all(plain) {
        quoted(out, text);
    } else {
        json(out, text);
    }
}

fn json(out: &mut Vec<u8>, content: &(impl serde::Serialize + ?Sized)) {
    serde_json::to_writer(out, content)
        .expect("names and JSON trees serialise, memory is writable");
}
