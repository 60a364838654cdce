//! Bytes → history, line by line.

use std::io::{BufRead, Read as _};

use serde_json::error::Category;

use super::events::{Events, Fault, reason};
use crate::history::intake::Place;
use crate::history::read::Terms;
use crate::history::{EventSink, History, ReadError, Reading, TornLine};

/// Longest line that is read. Events take some hundred bytes; the limit keeps a file without line
/// ends from filling the memory.
pub const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Some editors begin a UTF-8 file with it; it means nothing there.
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads a history in the project's own format, which `source` names in errors, and keeps it.
///
/// # Errors
/// As [`read()`](crate::history::read()).
pub fn read_jsonl(reader: impl BufRead, source: &str) -> Result<History, ReadError> {
    let mut history = History::default();
    history.torn = stream(reader, source, Terms::default(), &mut history)?.torn;
    Ok(history)
}

/// Hands a history in the project's own format on, event by event.
///
/// An empty input is an empty history. A byte order mark at the start and blank lines at the end
/// say nothing, and are passed over.
pub(in crate::history) fn stream(
    reader: impl BufRead,
    source: &str,
    terms: Terms,
    sink: &mut impl EventSink,
) -> Result<Reading, ReadError> {
    let mut input = Input {
        reader,
        file: source,
        line: 0,
        bytes: Vec::new(),
    };
    let mut events = Events::new(source, terms, sink);
    while input.advance()? {
        let taken = if input.line == 1 {
            events.take_first(input.content())
        } else {
            events.take(input.content())
        };
        match taken {
            Ok(()) => {}
            Err(Fault::Json(error)) if input.is_torn(&error)? => {
                let unused = input.unused();
                let bytes = input.bytes.len() - unused;
                events.reading.unused = unused;
                events.reading.torn = (bytes > 0).then(|| TornLine {
                    line: input.line,
                    bytes,
                    reason: if unused > 0 {
                        "it ends in the middle of an event".to_owned()
                    } else {
                        reason(&error)
                    },
                });
            }
            Err(fault) => return Err(events.refuse(input.place(), input.content(), fault)),
        }
    }
    events.finish()
}

struct Input<'a, R> {
    reader: R,
    file: &'a str,
    line: u64,
    bytes: Vec<u8>,
}

impl<R: BufRead> Input<'_, R> {
    /// Takes the next line; `false` at the end, blank lines before which say nothing.
    fn advance(&mut self) -> Result<bool, ReadError> {
        let mut blank = None;
        while self.take_line()? {
            if self.bytes.trim_ascii().is_empty() {
                blank.get_or_insert(self.line);
                continue;
            }
            let Some(line) = blank else {
                return Ok(true);
            };
            self.line = line;
            let remedy = "delete it: every line must be one JSON object";
            return Err(self.refuse("the line is blank", remedy));
        }
        Ok(false)
    }

    fn take_line(&mut self) -> Result<bool, ReadError> {
        self.bytes.clear();
        let limit = LINE_BYTES_MAX as u64 + 1;
        let read = self
            .reader
            .by_ref()
            .take(limit)
            .read_until(b'\n', &mut self.bytes);
        if let Err(cause) = read {
            return Err(self.io(cause));
        }
        self.line += 1;
        if self.bytes.len() > LINE_BYTES_MAX {
            let reason = format!("the line is longer than {LINE_BYTES_MAX} bytes");
            return Err(self.refuse(&reason, "write one event a line"));
        }
        if self.line == 1 && self.bytes.starts_with(BYTE_ORDER_MARK) {
            self.bytes.drain(..BYTE_ORDER_MARK.len());
            return Ok(true);
        }
        Ok(!self.bytes.is_empty())
    }

    /// The line without its end, so that columns count within it.
    fn content(&self) -> &[u8] {
        self.bytes.strip_suffix(b"\n").unwrap_or(&self.bytes)
    }

    /// The line as a whole: what is found in it has a column.
    fn place(&self) -> Place {
        Place {
            line: self.line,
            column: 0,
        }
    }

    /// Tells whether the line was cut short: it is the last one, and its JSON ends too early, or
    /// breaks off in any other way without a line end.
    fn is_torn(&mut self, error: &serde_json::Error) -> Result<bool, ReadError> {
        let cut = match error.classify() {
            Category::Eof => true,
            Category::Syntax => self.bytes.last() != Some(&b'\n'),
            Category::Data | Category::Io => false,
        };
        if !cut {
            return Ok(false);
        }
        match self.reader.fill_buf() {
            Ok(rest) => Ok(rest.is_empty()),
            Err(cause) => Err(self.io(cause)),
        }
    }

    /// How many NUL bytes the line ends with: no writer of JSON writes any, but a file that was
    /// lengthened before it was written has them where the writing ended.
    fn unused(&self) -> usize {
        let nuls = self.bytes.iter().rev().take_while(|&&byte| byte == 0);
        nuls.count()
    }

    fn io(&self, cause: std::io::Error) -> ReadError {
        ReadError::Io {
            file: self.file.to_owned(),
            line: self.line,
            cause,
        }
    }

    fn refuse(&self, reason: &str, remedy: &str) -> ReadError {
        self.place().refuse(self.file, reason, remedy)
    }
}
