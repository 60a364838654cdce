//! Bytes → history, line by line.

use std::io::{BufRead, Read as _};

use serde_json::error::Category;

use super::{line, plain};
use crate::history::order::Order;
use crate::history::{
    Event, EventSink, FORMAT, Header, History, ReadError, Reading, TornLine, VERSION,
};
use crate::names::Names;

/// Longest line that is read. Events take some hundred bytes; the limit keeps a file without line
/// ends from filling the memory.
pub const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Some editors begin a UTF-8 file with it; it means nothing there.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads a history in the project's own format, which `source` names in errors, and keeps it.
///
/// # Errors
/// As [`read()`](crate::history::read()).
pub fn read_jsonl(reader: impl BufRead, source: &str) -> Result<History, ReadError> {
    let mut history = History::default();
    history.torn = stream(reader, source, &mut history)?.torn;
    Ok(history)
}

/// Hands a history in the project's own format on, event by event.
///
/// An empty input is an empty history. A byte order mark at the start and blank lines at the end
/// say nothing, and are passed over.
pub(in crate::history) fn stream(
    reader: impl BufRead,
    source: &str,
    sink: &mut impl EventSink,
) -> Result<Reading, ReadError> {
    let mut input = Input {
        reader,
        file: source,
        line: 0,
        bytes: Vec::new(),
    };
    let mut names = Names::default();
    let mut order = Order::default();
    let mut reading = Reading::default();
    while input.advance()? {
        if input.line == 1 {
            match input.header() {
                Ok(Some(header)) => {
                    sink.header(header);
                    continue;
                }
                // An unreadable first line is judged as an event, below.
                Ok(None) | Err(Fault::Json(_)) => {}
                Err(fault) => return Err(input.error(fault)),
            }
        }
        match input.event(&mut names, &mut order) {
            Ok(event) => {
                reading.events += 1;
                sink.event(event);
            }
            Err(Fault::Json(error)) if input.is_torn(&error)? => {
                reading.torn = Some(TornLine {
                    line: input.line,
                    bytes: input.bytes.len(),
                    reason: reason(&error),
                });
            }
            Err(fault) => return Err(input.error(fault)),
        }
    }
    Ok(reading)
}

/// Why a line is refused.
enum Fault {
    Json(serde_json::Error),
    Other { reason: String, mend: String },
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
            return Err(self.error(Fault::Other {
                reason: "the line is blank".to_owned(),
                mend: "delete it: every line must be one JSON object".to_owned(),
            }));
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
            return Err(self.error(Fault::Other {
                reason: format!("the line is longer than {LINE_BYTES_MAX} bytes"),
                mend: "write one event a line".to_owned(),
            }));
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

    fn header(&self) -> Result<Option<Header>, Fault> {
        if !line::is_header(self.content()).map_err(Fault::Json)? {
            return Ok(None);
        }
        let header: Header = serde_json::from_slice(self.content()).map_err(|error| Fault::Other {
            reason: format!("the header cannot be read: {}", reason(&error)),
            mend: format!(
                "begin it with {{\"format\":\"{FORMAT}\",\"version\":{VERSION}}}, or leave it out"
            ),
        })?;
        if header.format != FORMAT {
            return Err(Fault::Other {
                reason: format!("the format is {:?}, not {FORMAT:?}", header.format),
                mend: "convert the history, or correct its header".to_owned(),
            });
        }
        if !(1..=VERSION).contains(&header.version) {
            return Err(Fault::Other {
                reason: format!(
                    "version {} of the format is not supported, only 1 to {VERSION}",
                    header.version
                ),
                mend: "use the version of lockstorm that wrote it".to_owned(),
            });
        }
        Ok(Some(header))
    }

    fn event(&self, names: &mut Names, order: &mut Order) -> Result<Event, Fault> {
        let event = match plain::event(self.content(), names) {
            Some(event) => event,
            None => line::parse(self.content(), names)
                .map_err(Fault::Json)?
                .into_event(order.index_next(), names),
        };
        order.push(&event).map_err(|disorder| Fault::Other {
            reason: disorder.reason,
            mend: disorder.mend.to_owned(),
        })?;
        Ok(event)
    }

    /// Whether the line was cut short: it is the last one, and its JSON ends too early, or breaks
    /// off in any other way without a line end.
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

    fn io(&self, cause: std::io::Error) -> ReadError {
        ReadError::Io {
            file: self.file.to_owned(),
            line: self.line,
            cause,
        }
    }

    fn error(&self, fault: Fault) -> ReadError {
        let (column, reason, mend) = match fault {
            Fault::Json(error) => (error.column(), reason(&error), mend(&error)),
            Fault::Other { reason, mend } => (0, reason, mend),
        };
        ReadError::Malformed {
            file: self.file.to_owned(),
            line: self.line,
            column,
            reason,
            mend,
        }
    }
}

/// What `serde_json` says, without the place, which counts from the start of the line.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).unwrap_or(&text).to_owned()
}

fn mend(error: &serde_json::Error) -> String {
    match error.classify() {
        Category::Data => "correct the field, or delete the line",
        Category::Syntax | Category::Eof | Category::Io => {
            "every line must be one JSON object; repair or delete this one"
        }
    }
    .to_owned()
}
