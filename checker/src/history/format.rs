//! The formats in which a history may come, and how they are told apart.

use std::fmt;
use std::str::FromStr;

use serde::de::IgnoredAny;
use serde_json::Value as Json;

use super::{atlasdb, jepsen_log};

/// Format in which a history is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// The project's own: one JSON object a line.
    Jsonl,
    /// One JSON array of the project's own events.
    Json,
    /// Jepsen's: maps in EDN.
    Edn,
    /// Jepsen's log lines.
    JepsenLog,
    /// The key-value histories of Porcupine's tests.
    Porcupine,
    /// `AtlasDB`'s: one JSON array of events.
    AtlasDb,
}

/// Some editors begin a UTF-8 file with it; it means nothing there.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl Format {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Jsonl,
        Self::Json,
        Self::Edn,
        Self::JepsenLog,
        Self::Porcupine,
        Self::AtlasDb,
    ];

    /// The word for it on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
            Self::Json => "json",
            Self::Edn => "edn",
            Self::JepsenLog => "jepsen-log",
            Self::Porcupine => "porcupine",
            Self::AtlasDb => "atlasdb",
        }
    }

    /// Describes the format in a line.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::Jsonl => "Lockstorm's own: one JSON object a line",
            Self::Json => "Lockstorm's own events in one JSON array",
            Self::Edn => "Jepsen's: maps in EDN, one after another or in one vector",
            Self::JepsenLog => "the operations in Jepsen's log, or its history.txt",
            Self::Porcupine => "the key-value histories of Porcupine's tests",
            Self::AtlasDb => "AtlasDB's histories of its lock service: one JSON array",
        }
    }

    /// The names of all, joined by commas.
    pub(crate) fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }

    /// Tells the format by how a history begins.
    ///
    /// Nothing at all is an empty history of our own. `None`: no format begins like this.
    pub fn detect(head: &[u8]) -> Option<Self> {
        let head = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head);
        let significant = skip_comments(head);
        match significant {
            [] if head.trim_ascii().is_empty() => Some(Self::Jsonl),
            [b'{', rest @ ..] => match rest.trim_ascii_start() {
                [] | [b'"' | b'}', ..] => Some(Self::Jsonl),
                _ if is_porcupine(rest) => Some(Self::Porcupine),
                _ => Some(Self::Edn),
            },
            [b'[', rest @ ..] if is_json(rest) => Some(array(rest)),
            // Comments alone are an empty history of Jepsen's.
            [] | [b'[' | b'(' | b'#', ..] => Some(Self::Edn),
            _ => is_log(head).then_some(Self::JepsenLog),
        }
    }
}

/// Skips the blanks and the comments with which a file in EDN may begin, and returns the rest.
fn skip_comments(head: &[u8]) -> &[u8] {
    let mut rest = head.trim_ascii_start();
    while let [b';', ..] = rest {
        let line = rest.iter().position(|&byte| byte == b'\n');
        rest = line.map_or(&[][..], |end| rest[end..].trim_ascii_start());
    }
    rest
}

/// Tells whether an array holds objects with names in quotes, as JSON has them.
fn is_json(array: &[u8]) -> bool {
    match array.trim_ascii_start() {
        [b'{', rest @ ..] => rest.trim_ascii_start().first() == Some(&b'"'),
        _ => false,
    }
}

/// Tells whose events an array holds, by the name of the first call of a client.
fn array(events: &[u8]) -> Format {
    let mut rest = events;
    while let Some((event, after)) = next_event(rest) {
        match event.function.as_deref() {
            Some(word) if atlasdb::function(word).is_some() => return Format::AtlasDb,
            Some(_) if !event.is_of_nemesis() => return Format::Json,
            Some(_) | None if event.format.is_some() => return Format::Json,
            Some(_) | None => rest = after,
        }
    }
    Format::Json
}

/// Fields that tell whose event it is.
#[derive(serde::Deserialize)]
struct Probe {
    #[serde(rename = "f")]
    function: Option<String>,
    process: Option<Json>,
    format: Option<IgnoredAny>,
}

impl Probe {
    fn is_of_nemesis(&self) -> bool {
        let named = self.process.as_ref();
        named.is_some_and(|process| *process == -1 || *process == "nemesis")
    }
}

/// The next event of an array of which some may be missing, and what follows it.
fn next_event(array: &[u8]) -> Option<(Probe, &[u8])> {
    let blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == b',';
    let begin = array.iter().position(|byte| !blank(byte))?;
    let mut events = serde_json::Deserializer::from_slice(&array[begin..]).into_iter();
    let event = events.next()?.ok()?;
    Some((event, &array[begin + events.byte_offset()..]))
}

/// Porcupine's maps are EDN too, but they name a key, no time, and the calls of a key-value store.
fn is_porcupine(map: &[u8]) -> bool {
    let end = map.iter().position(|&byte| byte == b'\n' || byte == b'}');
    let text = String::from_utf8_lossy(&map[..end.unwrap_or(map.len())]);
    let has = |field: &str| text.contains(field);
    let calls = [":f :get", ":f :put", ":f :append"];
    has(":key") && !has(":time") && calls.into_iter().any(has)
}

fn is_log(head: &[u8]) -> bool {
    String::from_utf8_lossy(head)
        .lines()
        .any(jepsen_log::is_operation)
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A word that names no format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no format {0:?}; use one of {names}", names = Format::names())]
pub struct UnknownFormat(pub String);

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(word: &str) -> Result<Self, UnknownFormat> {
        Self::ALL
            .into_iter()
            .find(|format| format.name() == word)
            .ok_or_else(|| UnknownFormat(word.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_format_is_told_by_how_it_begins() {
        let table: [(&str, Option<Format>); 30] = [
            ("", Some(Format::Jsonl)),
            (" \n\n", Some(Format::Jsonl)),
            ("{\"type\":\"invoke\"}", Some(Format::Jsonl)),
            ("\u{feff}{ \"format\":", Some(Format::Jsonl)),
            ("{", Some(Format::Jsonl)),
            ("{}", Some(Format::Jsonl)),
            ("; a comment", Some(Format::Edn)),
            ("; {\"type\" 3}\n;;\n {:type :invoke", Some(Format::Edn)),
            ("[{:type :invoke, :f :acquire}]", Some(Format::Edn)),
            ("[]", Some(Format::Edn)),
            ("({:type :invoke})", Some(Format::Edn)),
            ("#jepsen.history.Op{:index 0", Some(Format::Edn)),
            (
                "{:process 0, :type :invoke, :f :acquire, :key \"0\"",
                Some(Format::Edn),
            ),
            (
                "{:time 1, :process 0, :f :append, :key \"0\"}",
                Some(Format::Edn),
            ),
            (
                "{:process 0, :f :append, :value 1}\n:key",
                Some(Format::Edn),
            ),
            (
                "{:process 0, :type :invoke, :f :get, :key \"0\", :value nil}",
                Some(Format::Porcupine),
            ),
            (
                "INFO  jepsen.util - 0\t:invoke\t:read\tnil",
                Some(Format::JepsenLog),
            ),
            ("3 :invoke :read nil", Some(Format::JepsenLog)),
            (
                "2026-01-01 starting\nINFO [x] jepsen worker 3 - jepsen.util 3 :invoke :read nil",
                Some(Format::JepsenLog),
            ),
            (
                "[\n    {\n        \"f\": \"lock\", \"process\": 0}",
                Some(Format::AtlasDb),
            ),
            (
                r#"[{"f":"start","process":-1},{"f":"refresh","process":0}]"#,
                Some(Format::AtlasDb),
            ),
            (r#"[{"f":"acquire","process":0}]"#, Some(Format::Json)),
            (r#"[{"f":"Lock","process":0},"#, Some(Format::Json)),
            (
                r#"[{"format":"lockstorm-history"},{"f":"lock"}]"#,
                Some(Format::Json),
            ),
            (
                r#"[{"f":"fault","process":"nemesis"},{"f""#,
                Some(Format::Json),
            ),
            (r#"[{"f":"lock""#, Some(Format::Json)),
            ("[{}]", Some(Format::Edn)),
            ("Dear diary", None),
            ("<html>", None),
            ("\0\u{1}", None),
        ];
        for (head, format) in table {
            assert_eq!(Format::detect(head.as_bytes()), format, "{head:?}");
        }
    }

    #[test]
    fn every_format_goes_by_its_name() {
        for format in Format::ALL {
            assert_eq!(format.to_string().parse(), Ok(format));
            assert!(!format.summary().is_empty());
        }
    }
}
