//! Reader of ordinary lines: one event from its bytes, at a fraction of the cost of a JSON parser.
//!
//! Covers the lines of which long histories are made, ours and those of other writers: fields in
//! any order, blanks between them, nothing escaped, no unknown field, nothing nested beyond the
//! value. It never judges a line. Anything else is left to the JSON parser, which reads it or says
//! what is wrong with it; so this file decides how fast a history is read, and never what is read.

use serde_json::Value as Json;

use super::line::{Line, Who, who};
use crate::history::date::nanos_since_1970;
use crate::history::names::Names;
use crate::history::stamp::Stamp;
use crate::history::{Function, Giver, Givers, Kind, Mode, Name, Process, Until, Value};

/// Reads an ordinary line; `None` for any other, right or wrong.
pub(super) fn line(bytes: &[u8], names: &mut Names) -> Option<Line> {
    let mut scan = Scan { rest: bytes };
    let (mut index, mut time, mut key, mut error) = (None, None, None, None);
    let (mut kind, mut process, mut function, mut value) = (None, None, None, None);
    scan.object(|scan, field| match field {
        "index" => fill(&mut index, scan.number()?),
        "time" => fill(&mut time, scan.stamp()?),
        "type" => fill(&mut kind, kind_of(scan.text()?)?),
        "process" => fill(&mut process, scan.process(names)?),
        "f" => fill(&mut function, Function::from(scan.text()?)),
        "key" => scan.set(&mut key, |scan| scan.shared(names)),
        "value" => fill(&mut value, scan.value(names)?),
        "error" => scan.set(&mut error, |scan| scan.shared(names)),
        _ => None,
    })?;
    scan.blanks();
    let (process, client) = process?.parts();
    scan.rest.is_empty().then_some(Line {
        index,
        time,
        kind: kind?,
        process,
        client,
        function: function?,
        key,
        value: value.unwrap_or_default(),
        error,
        extra: None,
    })
}

fn kind_of(word: &str) -> Option<Kind> {
    match word {
        "invoke" => Some(Kind::Invoke),
        "ok" => Some(Kind::Ok),
        "fail" => Some(Kind::Fail),
        "info" => Some(Kind::Info),
        "note" => Some(Kind::Note),
        _ => None,
    }
}

fn until_of(word: &str) -> Option<Until> {
    (word == "session-end").then_some(Until::SessionEnd)
}

fn mode_of(word: &str) -> Option<Mode> {
    match word {
        "write" => Some(Mode::Write),
        "read" => Some(Mode::Read),
        _ => None,
    }
}

/// Fills a field that is empty: two of one name are for the parser to refuse.
fn fill<T>(slot: &mut Option<T>, value: T) -> Option<()> {
    slot.replace(value).is_none().then_some(())
}

/// Part of a line that has not been read yet.
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

    /// Passes over blanks.
    fn blanks(&mut self) {
        while let [b' ' | b'\t' | b'\r' | b'\n', rest @ ..] = self.rest {
            self.rest = rest;
        }
    }

    /// Passes over one byte and the blanks around it.
    fn mark(&mut self, byte: u8) -> Option<()> {
        self.blanks();
        self.expect(&[byte])?;
        self.blanks();
        Some(())
    }

    /// Reads an object, the value of each field by `take`.
    fn object(&mut self, mut take: impl FnMut(&mut Self, &'a str) -> Option<()>) -> Option<()> {
        self.mark(b'{')?;
        if self.expect(b"}").is_some() {
            return Some(());
        }
        loop {
            let field = self.text()?;
            self.mark(b':')?;
            take(self, field)?;
            self.blanks();
            if self.expect(b"}").is_some() {
                return Some(());
            }
            self.mark(b',')?;
        }
    }

    /// Fills a field, which may be null.
    fn set<T>(
        &mut self,
        slot: &mut Option<T>,
        read: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<()> {
        let value = match self.expect(b"null") {
            Some(()) => None,
            None => Some(read(self)?),
        };
        std::mem::replace(slot, value).is_none().then_some(())
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

    /// A text that many lines have in common.
    fn shared(&mut self, names: &mut Names) -> Option<Name> {
        self.text().map(|text| names.share(text))
    }

    /// A whole number of units, or a date.
    fn stamp(&mut self) -> Option<Stamp> {
        if self.begins(b'"') {
            return nanos_since_1970(self.text()?).map(Stamp::Date);
        }
        self.number().map(Stamp::Count)
    }

    fn process(&mut self, names: &mut Names) -> Option<Who> {
        if self.begins(b'"') {
            return who(self.text()?, names);
        }
        self.number().map(Process::Client).map(Who::Process)
    }

    fn value(&mut self, names: &mut Names) -> Option<Value> {
        let mut value = Value::default();
        if self.expect(b"null").is_some() {
            return Some(value);
        }
        self.object(|scan, field| match field {
            "owner" => scan.set(&mut value.owner, |scan| scan.shared(names)),
            "mode" => scan.set(&mut value.mode, |scan| mode_of(scan.text()?)),
            "permits" => scan.set(&mut value.permits, Self::small),
            "lease_ms" => scan.set(&mut value.lease_ms, Self::number),
            "until" => scan.set(&mut value.until, |scan| until_of(scan.text()?)),
            "wait_ms" => scan.set(&mut value.wait_ms, Self::number),
            "token" => scan.set(&mut value.token, Self::number),
            "waited_ns" => scan.set(&mut value.waited_ns, Self::number),
            "count" => scan.set(&mut value.count, Self::small),
            "by" => scan.set(&mut value.by, |scan| scan.givers(names).map(Box::new)),
            "resource" => scan.set(&mut value.resource, |scan| scan.shared(names)),
            // Here null is a value: it is what a read of nothing returns.
            "value" => fill(&mut value.value, Box::new(scan.scalar()?)),
            _ => None,
        })?;
        Some(value)
    }

    /// The servers of a grant, each with its role.
    fn givers(&mut self, names: &mut Names) -> Option<Givers> {
        let mut givers = Givers::default();
        self.object(|scan, node| {
            let mut role = None;
            scan.set(&mut role, |scan| scan.shared(names))?;
            let node = names.share(node);
            givers.0.push(Giver { node, role });
            Some(())
        })?;
        Some(givers)
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

    /// The line as the JSON parser reads it.
    fn parsed(bytes: &[u8]) -> Option<Line> {
        line::parse(bytes, &mut Names::default()).ok()
    }

    fn plain(bytes: &[u8]) -> Option<Line> {
        line(bytes, &mut Names::default())
    }

    fn number() -> impl Strategy<Value = String> {
        prop_oneof![
            6 => any::<u64>().prop_map(|number| number.to_string()),
            3 => (0_u32..30).prop_map(|number| number.to_string()),
            1 => "-?[0-9]{1,22}(\\.[0-9])?(e[0-9])?",
        ]
    }

    fn text() -> impl Strategy<Value = String> {
        prop_oneof![
            6 => "\"[a-zé ]{0,6}\"",
            1 => Just("\"a\\u0062\\n\"".to_owned()),
            1 => "\"[\\x00-\\x7f]{0,3}\"",
            1 => Just("null".to_owned()),
        ]
    }

    /// Fields of a value, each of them now and then of another type.
    fn fields() -> impl Strategy<Value = Vec<String>> {
        let mode = prop_oneof![Just("\"read\""), Just("\"write\""), Just("\"shared\"")];
        let field = prop_oneof![
            text().prop_map(|text| format!("\"owner\":{text}")),
            mode.prop_map(|mode| format!("\"mode\":{mode}")),
            ("permits|lease_ms|wait_ms|token|count", number())
                .prop_map(|(field, number)| format!("\"{field}\":{number}")),
            "owner|mode|permits|token|resource|by|value|fault"
                .prop_map(|field| format!("\"{field}\":null")),
            text().prop_map(|text| format!("\"resource\":{text}")),
            text().prop_map(|text| format!("\"value\":{text}")),
            number().prop_map(|number| format!("\"value\":{number}")),
            text().prop_map(|text| format!("\"by\":{{\"n1\":{text},\"n2\":null}}")),
            Just("\"value\":[1]".to_owned()),
            Just("\"rain\":true".to_owned()),
        ];
        proptest::collection::vec(field, 0..4)
    }

    /// A line as somebody might write it, or nearly: fields in any order, some absent, blanks, and
    /// each piece is now and then one that no writer should write.
    fn any_line() -> impl Strategy<Value = String> {
        let date = Just("\"2026-01-31T23:59:59.5Z\"".to_owned());
        let time = prop_oneof![6 => number(), 1 => date, 1 => text()];
        let process = prop_oneof![number(), Just("\"nemesis\"".to_owned()), text()];
        let fields = prop_oneof![
            6 => fields().prop_map(|fields| format!("{{{}}}", fields.join(","))),
            1 => Just("null".to_owned()),
        ];
        let kind = "\"(invoke|ok|fail|info|note|done)\"";
        let function = "\"(acquire|release|read|cas|fault|weather)\"";
        let pieces = (
            (number(), time, kind, process, function),
            (text(), fields, text()),
        )
            .prop_map(|((index, time, kind, process, f), (key, value, error))| {
                vec![
                    format!("\"index\":{index}"),
                    format!("\"time\":{time}"),
                    format!("\"type\":{kind}"),
                    format!("\"process\":{process}"),
                    format!("\"f\":{f}"),
                    format!("\"key\":{key}"),
                    format!("\"value\":{value}"),
                    format!("\"error\":{error}"),
                ]
            })
            .boxed();
        let order = prop_oneof![
            3 => pieces.clone(),
            3 => pieces.clone().prop_shuffle(),
            1 => (pieces, any::<prop::sample::Index>()).prop_map(|(mut pieces, at)| {
                pieces.remove(at.index(pieces.len()));
                pieces
            }),
        ];
        let blank = prop_oneof![3 => Just(""), 1 => Just(" "), 1 => Just("\t ")];
        let end = prop_oneof![8 => Just("}"), 1 => Just("} "), 1 => Just("}}"), 1 => Just("")];
        (order, blank, end).prop_map(|(pieces, blank, end)| {
            let spaced = pieces.join(&format!("{blank},{blank}"));
            format!("{{{blank}{spaced}{blank}{end}").replace("\":", &format!("\"{blank}:{blank}"))
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1500))]

        #[test]
        fn what_is_read_here_is_what_the_json_parser_reads(text in any_line()) {
            if let Some(line) = plain(text.as_bytes()) {
                prop_assert_eq!(Some(line), parsed(text.as_bytes()));
            }
        }

        #[test]
        fn the_same_holds_when_any_byte_is_changed(
            text in any_line(), at in any::<prop::sample::Index>(), to in any::<u8>(),
        ) {
            let mut bytes = text.into_bytes();
            let at = at.index(bytes.len());
            bytes[at] = to;
            if let Some(line) = plain(&bytes) {
                prop_assert_eq!(Some(line), parsed(&bytes));
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
                let text = format!(
                    "{{\"index\":1,\"time\":9,\"type\":\"ok\",\"process\":1,\"f\":\"acquire\",\
                     \"key\":\"k\",\"value\":{value},\"error\":{error}}}"
                );
                let line = plain(text.as_bytes());
                assert!(line.is_some(), "{text}");
                assert_eq!(line, parsed(text.as_bytes()), "{text}");
            }
        }
    }

    #[test]
    fn lines_of_other_writers_are_read_here() {
        for text in [
            r#"{"type":"invoke","f":"acquire","process":3}"#,
            r#"{ "f": "acquire", "type": "ok", "process": "worker-1", "value": null, "time": 5 }"#,
            r#"{"time": "2026-01-31T23:59:59.5Z", "process": "7", "type": "fail", "f": "renew"}"#,
            r#"{"value": {"token": null, "owner": "a"}, "f": "x", "type": "info", "process": 0}"#,
        ] {
            let line = plain(text.as_bytes());
            assert!(line.is_some(), "{text}");
            assert_eq!(line, parsed(text.as_bytes()), "{text}");
        }
    }
}
