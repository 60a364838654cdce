//! A line exactly as this crate writes it → one event, at a fraction of the cost of a JSON parser.
//!
//! For: the lines of which long histories are made: the fields in the order of the writer, without
//! blanks, escapes, unknown fields, or anything nested beyond the value. Not for: judging a line.
//! Whatever looks the least bit different is left to the JSON parser, which reads it or says what
//! is wrong with it; so this file decides how fast a history is read, and never what is read.

use serde_json::Value as Json;

use crate::history::names::Names;
use crate::history::{Event, Function, Giver, Givers, Kind, Mode, Nanos, Process, Value};

/// The event of a line in the form of the writer; `None` for any other line.
pub(super) fn event(line: &[u8], names: &mut Names) -> Option<Event> {
    let mut scan = Scan { rest: line };
    scan.expect(b"{\"index\":")?;
    let index = scan.number()?;
    scan.expect(b",\"time\":")?;
    let time = Nanos(scan.number()?);
    scan.expect(b",\"type\":")?;
    let kind = kind(scan.text()?)?;
    scan.expect(b",\"process\":")?;
    let process = scan.process()?;
    scan.expect(b",\"f\":")?;
    let function = Function::from(scan.text()?);
    scan.expect(b",\"key\":")?;
    let key = names.share(scan.text()?);
    scan.expect(b",\"value\":")?;
    let value = value(&mut scan, names)?;
    scan.expect(b",\"error\":")?;
    let error = if scan.begins(b'"') {
        Some(names.share(scan.text()?))
    } else {
        scan.expect(b"null")?;
        None
    };
    scan.expect(b"}")?;
    scan.rest.is_empty().then_some(Event {
        index,
        time,
        kind,
        process,
        function,
        key,
        value,
        error,
        extra: None,
    })
}

fn kind(word: &str) -> Option<Kind> {
    match word {
        "invoke" => Some(Kind::Invoke),
        "ok" => Some(Kind::Ok),
        "fail" => Some(Kind::Fail),
        "info" => Some(Kind::Info),
        "note" => Some(Kind::Note),
        _ => None,
    }
}

fn mode(word: &str) -> Option<Mode> {
    match word {
        "write" => Some(Mode::Write),
        "read" => Some(Mode::Read),
        _ => None,
    }
}

fn value(scan: &mut Scan, names: &mut Names) -> Option<Value> {
    let mut value = Value::default();
    scan.expect(b"{")?;
    if scan.expect(b"}").is_some() {
        return Some(value);
    }
    loop {
        let field = scan.text()?;
        scan.expect(b":")?;
        match field {
            "owner" => fill(&mut value.owner, names.share(scan.text()?)),
            "mode" => fill(&mut value.mode, mode(scan.text()?)?),
            "permits" => fill(&mut value.permits, scan.small()?),
            "lease_ms" => fill(&mut value.lease_ms, scan.number()?),
            "wait_ms" => fill(&mut value.wait_ms, scan.number()?),
            "token" => fill(&mut value.token, scan.number()?),
            "waited_ns" => fill(&mut value.waited_ns, scan.number()?),
            "count" => fill(&mut value.count, scan.small()?),
            "by" => fill(&mut value.by, Box::new(givers(scan, names)?)),
            "resource" => fill(&mut value.resource, names.share(scan.text()?)),
            "value" => fill(&mut value.value, Box::new(scan.scalar()?)),
            _ => None,
        }?;
        if scan.expect(b"}").is_some() {
            return Some(value);
        }
        scan.expect(b",")?;
    }
}

/// The servers of a grant, each with its role.
fn givers(scan: &mut Scan, names: &mut Names) -> Option<Givers> {
    let mut givers = Givers::default();
    scan.expect(b"{")?;
    if scan.expect(b"}").is_some() {
        return Some(givers);
    }
    loop {
        let node = names.share(scan.text()?);
        scan.expect(b":")?;
        let role = match scan.expect(b"null") {
            Some(()) => None,
            None => Some(names.share(scan.text()?)),
        };
        givers.0.push(Giver { node, role });
        if scan.expect(b"}").is_some() {
            return Some(givers);
        }
        scan.expect(b",")?;
    }
}

/// Fills a field that is empty: two of one name are for the parser to refuse.
fn fill<T>(slot: &mut Option<T>, value: T) -> Option<()> {
    slot.replace(value).is_none().then_some(())
}

/// What is left of a line.
struct Scan<'a> {
    rest: &'a [u8],
}

impl<'a> Scan<'a> {
    fn begins(&self, byte: u8) -> bool {
        self.rest.first() == Some(&byte)
    }

    /// Passes over `text`, if it comes next.
    fn expect(&mut self, text: &[u8]) -> Option<()> {
        self.rest = self.rest.strip_prefix(text)?;
        Some(())
    }

    /// A whole number without sign, fraction or leading zero.
    fn number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        let mut digits = 0;
        while let Some(digit) = self.rest.get(digits).filter(|byte| byte.is_ascii_digit()) {
            number = number
                .checked_mul(10)?
                .checked_add(u64::from(digit - b'0'))?;
            digits += 1;
        }
        let is_whole = digits == 1 || (digits > 1 && !self.begins(b'0'));
        self.rest = &self.rest[digits..];
        is_whole.then_some(number)
    }

    fn small(&mut self) -> Option<u32> {
        self.number()?.try_into().ok()
    }

    /// A text without escapes.
    fn text(&mut self) -> Option<&'a str> {
        self.expect(b"\"")?;
        let stops = |&byte: &u8| byte == b'"' || byte == b'\\' || byte < b' ';
        let length = self.rest.iter().position(stops)?;
        let (text, rest) = self.rest.split_at(length);
        self.rest = rest.strip_prefix(b"\"")?;
        std::str::from_utf8(text).ok()
    }

    fn process(&mut self) -> Option<Process> {
        if self.expect(b"\"nemesis\"").is_some() {
            return Some(Process::Nemesis);
        }
        self.number().map(Process::Client)
    }

    /// A number, a text or null: nearly all that is ever read from or written to a resource.
    fn scalar(&mut self) -> Option<Json> {
        if self.expect(b"null").is_some() {
            return Some(Json::Null);
        }
        if self.begins(b'"') {
            return self.text().map(Json::from);
        }
        self.number().map(Json::from)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::history::jsonl::line;

    /// What the JSON parser makes of a line.
    fn parsed(line: &[u8]) -> Option<Event> {
        let mut names = Names::default();
        let line = line::parse(line, &mut names).ok()?;
        Some(line.into_event(0, &mut names))
    }

    fn plain(line: &[u8]) -> Option<Event> {
        event(line, &mut Names::default())
    }

    /// A line in the form of the writer, or nearly: each piece is now and then one that the writer
    /// never writes.
    fn line() -> impl Strategy<Value = String> {
        let number = || {
            prop_oneof![
                6 => any::<u64>().prop_map(|number| number.to_string()),
                3 => (0_u32..30).prop_map(|number| number.to_string()),
                1 => "-?[0-9]{1,22}(\\.[0-9])?(e[0-9])?",
            ]
        };
        let text = || {
            prop_oneof![
                6 => "\"[a-zé ]{0,6}\"",
                1 => Just("\"a\\u0062\\n\"".to_owned()),
                1 => "\"[\\x00-\\x7f]{0,3}\"",
                1 => Just("null".to_owned()),
            ]
        };
        let mode = prop_oneof![Just("\"read\""), Just("\"write\""), Just("\"shared\"")];
        let field = prop_oneof![
            text().prop_map(|text| format!("\"owner\":{text}")),
            mode.prop_map(|mode| format!("\"mode\":{mode}")),
            ("permits|lease_ms|wait_ms|token|count", number())
                .prop_map(|(field, number)| format!("\"{field}\":{number}")),
            text().prop_map(|text| format!("\"resource\":{text}")),
            text().prop_map(|text| format!("\"value\":{text}")),
            number().prop_map(|number| format!("\"value\":{number}")),
            text().prop_map(|text| format!("\"by\":{{\"n1\":{text},\"n2\":null}}")),
            Just("\"value\":[1]".to_owned()),
            Just("\"rain\":true".to_owned()),
        ];
        let fields = proptest::collection::vec(field, 0..4).prop_map(|fields| fields.join(","));
        let process = prop_oneof![number(), Just("\"nemesis\"".to_owned()), text()];
        let kind = "invoke|ok|fail|info|note|done";
        let function = "acquire|release|read|cas|fault|weather";
        let end = prop_oneof![8 => Just("}"), 1 => Just("} "), 1 => Just("}}"), 1 => Just("")];
        (
            (number(), number(), kind, process, function),
            (text(), fields, text(), end),
        )
            .prop_map(|((index, time, kind, process, f), (key, value, error, end))| {
                format!(
                    "{{\"index\":{index},\"time\":{time},\"type\":\"{kind}\",\"process\":{process},\
                     \"f\":\"{f}\",\"key\":{key},\"value\":{{{value}}},\"error\":{error}{end}"
                )
            })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn what_is_read_here_is_what_the_json_parser_reads(line in line()) {
            if let Some(event) = plain(line.as_bytes()) {
                prop_assert_eq!(Some(event), parsed(line.as_bytes()));
            }
        }

        #[test]
        fn the_same_holds_when_any_byte_is_changed(
            line in line(), at in any::<prop::sample::Index>(), to in any::<u8>(),
        ) {
            let mut bytes = line.into_bytes();
            let at = at.index(bytes.len());
            bytes[at] = to;
            if let Some(event) = plain(&bytes) {
                prop_assert_eq!(Some(event), parsed(&bytes));
            }
        }
    }

    #[test]
    fn the_lines_of_a_run_are_read_here() {
        for value in [
            "{}",
            r#"{"owner":"a","lease_ms":2000,"wait_ms":0}"#,
            r#"{"mode":"read","permits":2,"token":17,"count":0}"#,
            r#"{"token":3,"resource":"r","value":18446744073709551615}"#,
            r#"{"by":{"n1":"primary","n2":null},"value":null}"#,
            r#"{"value":"é"}"#,
        ] {
            for error in ["null", "\"refused\""] {
                let line = format!(
                    "{{\"index\":1,\"time\":9,\"type\":\"ok\",\"process\":1,\"f\":\"acquire\",\
                     \"key\":\"k\",\"value\":{value},\"error\":{error}}}"
                );
                let event = plain(line.as_bytes());
                assert!(event.is_some(), "{line}");
                assert_eq!(event, parsed(line.as_bytes()), "{line}");
            }
        }
    }
}
