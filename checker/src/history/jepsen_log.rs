//! Jepsen's log, and the `history.txt` that it writes: an operation a line, among others.
//!
//! ```text
//! INFO  jepsen.util - 3  :invoke  :cas    [1 2]
//! INFO  jepsen.util - 3  :fail    :cas    [1 2]
//! INFO  jepsen.util - :nemesis    :info   :start  "Cut off n1"
//! ```
//!
//! There are no times: the order of the lines is that of the events. A third column behind `:f` is
//! the value, a fourth the error. Lines of any other kind are passed over.

use std::io::{BufRead, Read as _};

use super::edn::{Dialect, Fault, Fields, Form, Scanner};
use super::error::ReadError;
use super::intake::{Intake, Place};
use super::read::Terms;
use super::{EventSink, Reading, TornLine};

/// Longest line that is read, in bytes. Lines of operations take some dozen; the limit keeps a
/// file without line ends from filling the memory.
const LINE_BYTES_MAX: usize = 1024 * 1024;

/// Hands on the events of a log.
pub(super) fn stream(
    mut reader: impl BufRead,
    file: &str,
    terms: Terms,
    sink: &mut impl EventSink,
) -> Result<Reading, ReadError> {
    let mut intake = Intake::new(file, terms, sink);
    let mut place = Place::START;
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        let taken = (&mut reader)
            .take(LINE_BYTES_MAX as u64)
            .read_until(b'\n', &mut bytes);
        taken.map_err(|cause| ReadError::Io {
            file: file.to_owned(),
            line: place.line - 1,
            cause,
        })?;
        if bytes.is_empty() {
            return intake.finish();
        }
        if bytes.len() >= LINE_BYTES_MAX {
            let reason = format!("the line takes {LINE_BYTES_MAX} bytes or more");
            return Err(place.refuse(file, reason, "write one operation a line"));
        }
        let text = String::from_utf8_lossy(&bytes);
        if let Some(line) = Line::of(&text) {
            // Of a number that was cut short nobody could tell.
            if !text.ends_with('\n') {
                intake.reading.torn = Some(TornLine {
                    line: place.line,
                    bytes: bytes.len(),
                    reason: "it has no line end, so that its value may be cut short".to_owned(),
                });
                return intake.finish();
            }
            event(&line, place, &mut intake)?;
        }
        place.line += 1;
    }
}

/// Tells whether a line is that of an operation.
pub(super) fn is_operation(line: &str) -> bool {
    Line::of(line).is_some()
}

/// The columns of an operation.
struct Line<'a> {
    process: &'a str,
    kind: &'a str,
    function: &'a str,
    /// Value and error.
    rest: &'a str,
    /// Columns at which the process and the rest begin, in characters from 1.
    columns: (usize, usize),
}

impl<'a> Line<'a> {
    fn of(text: &'a str) -> Option<Self> {
        let mut words = Words(text, 0);
        let (mut before, mut process) = (None, words.next()?);
        loop {
            let (_, kind) = words.next()?;
            let begins = match before {
                None => true,
                Some((_, word)) => word == "-" || str::starts_with(word, "jepsen."),
            };
            if begins && is_process(process.1) && is_kind(kind) {
                let (_, function) = words.next()?;
                let rest = &text[words.1..];
                let column = |offset: usize| text[..offset].chars().count() + 1;
                return function.starts_with(':').then(|| Self {
                    process: process.1,
                    kind,
                    function,
                    rest,
                    columns: (column(process.0), column(words.1)),
                });
            }
            before = Some(process);
            process = (words.1 - kind.len(), kind);
        }
    }
}

/// The words of a text, each with where it begins.
struct Words<'a>(&'a str, usize);

impl<'a> Iterator for Words<'a> {
    type Item = (usize, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = &self.0[self.1..];
        let begin = self.1 + rest.find(|c: char| !c.is_whitespace())?;
        let word = self.0[begin..].split(char::is_whitespace).next()?;
        self.1 = begin + word.len();
        Some((begin, word))
    }
}

fn is_process(word: &str) -> bool {
    let digits = word.strip_prefix('-').unwrap_or(word);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number || word == "nemesis" || word.strip_prefix(':').is_some_and(|_| !is_kind(word))
}

fn is_kind(word: &str) -> bool {
    matches!(word, ":invoke" | ":ok" | ":fail" | ":info")
}

fn event(line: &Line, start: Place, intake: &mut Intake<impl EventSink>) -> Result<(), ReadError> {
    let file = intake.file;
    let at = |column| Place { column, ..start };
    let (begin, rest) = (at(line.columns.0), at(line.columns.1));
    let mut fields = Fields::new(begin);
    for (field, word) in [
        ("process", line.process),
        ("type", line.kind),
        ("f", line.function),
    ] {
        fields.set(file, field, Form::of_word(word.to_owned()), begin)?;
    }
    let mut scanner = Scanner::new(line.rest.as_bytes(), file, rest);
    for field in ["value", "error"] {
        if scanner.is_done()? {
            break;
        }
        let place = scanner.place();
        match scanner.form() {
            Ok(form) => fields.set(file, field, form, place)?,
            // What the nemesis says is for people, and need not be EDN.
            Err(_) if fields.is_nemesis() => {
                fields.set(file, "said", Form::Text(line.rest.trim().to_owned()), place)?;
                break;
            }
            Err(Fault::Refused(error)) => return Err(error),
            Err(Fault::Cut) => {
                let remedy = "close what is open, on the same line";
                return Err(place.refuse(file, format!("the {field} has no end"), remedy));
            }
        }
    }
    fields.finish(Dialect::Jepsen, intake)
}
