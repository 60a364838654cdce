//! One JSON array of our own events, as `jq -s .` makes it of their lines → its events.

use std::io::BufRead;

use serde_json::error::Category;

use super::events::{Events, Fault, reason};
use super::read::{BYTE_ORDER_MARK, LINE_BYTES_MAX};
use crate::history::intake::Place;
use crate::history::read::Terms;
use crate::history::{EventSink, ReadError, Reading, TornLine};

/// Hands on the events of an array. An array that is cut short is torn at its last event.
pub(in crate::history) fn stream(
    reader: impl BufRead,
    source: &str,
    terms: Terms,
    sink: &mut impl EventSink,
) -> Result<Reading, ReadError> {
    let mut events = Events::new(source, terms, sink);
    let mut elements = Elements {
        reader,
        file: source,
        place: Place::START,
        bytes: Vec::new(),
    };
    elements.skip_mark()?;
    let mut is_first = true;
    loop {
        let start = match elements.advance(is_first)? {
            Step::Element(start) => start,
            Step::End => return events.finish(),
            Step::Cut(torn) => {
                events.reading.torn = Some(torn);
                return events.finish();
            }
        };
        let taken = if is_first {
            events.take_first(&elements.bytes)
        } else {
            events.take(&elements.bytes)
        };
        is_first = false;
        if let Err(fault) = taken {
            return Err(match fault {
                Fault::Json(error) if error.classify() == Category::Eof => start.refuse(
                    source,
                    format!("this is no event: {}", reason(&error)),
                    "write each event as a JSON object",
                ),
                fault => events.refuse(start, &elements.bytes, fault),
            });
        }
    }
}

/// Next item in the array.
enum Step {
    /// An element, which begins there; its bytes are in [`Elements::bytes`].
    Element(Place),
    /// Its end, after which nothing follows.
    End,
    /// The end of the file before that of the array.
    Cut(TornLine),
}

/// Finds where the elements of an array begin and end, without a look at what is in them.
struct Elements<'a, R> {
    reader: R,
    file: &'a str,
    /// Position of the next byte.
    place: Place,
    bytes: Vec<u8>,
}

impl<R: BufRead> Elements<'_, R> {
    fn advance(&mut self, is_first: bool) -> Result<Step, ReadError> {
        if is_first {
            self.expect_open()?;
        }
        let mut is_separated = is_first;
        loop {
            self.skip_blank()?;
            let start = self.place;
            match self.peek()? {
                None => return Ok(Step::Cut(self.torn(start, "the array is not closed"))),
                Some(b',') if !is_separated => {
                    self.bump(b',');
                    is_separated = true;
                }
                Some(b']') if is_first || !is_separated => {
                    self.bump(b']');
                    return self.end();
                }
                Some(byte) if is_separated && !matches!(byte, b',' | b']') => {
                    return self.element(start);
                }
                Some(_) => {
                    let remedy = "put one comma between two events, and none after the last";
                    let reason = "events and commas do not alternate";
                    return Err(start.refuse(self.file, reason, remedy));
                }
            }
        }
    }

    fn expect_open(&mut self) -> Result<(), ReadError> {
        self.skip_blank()?;
        if self.peek()? == Some(b'[') {
            self.bump(b'[');
            return Ok(());
        }
        let remedy = "begin it with [, or read it with --from jsonl if each line is an event";
        Err(self.place.refuse(self.file, "this is no array", remedy))
    }

    /// Nothing may follow the array.
    fn end(&mut self) -> Result<Step, ReadError> {
        self.skip_blank()?;
        if self.peek()?.is_none() {
            return Ok(Step::End);
        }
        let remedy = "put all events into one array";
        Err(self
            .place
            .refuse(self.file, "something follows the array", remedy))
    }

    /// Takes the bytes of an element up to the brace that closes it, or, of what is no object, up
    /// to the next comma.
    fn element(&mut self, start: Place) -> Result<Step, ReadError> {
        self.bytes.clear();
        let (mut depth, mut is_text, mut is_escaped) = (0_usize, false, false);
        while let Some(byte) = self.peek()? {
            if is_text {
                is_text = is_escaped || byte != b'"';
                is_escaped = !is_escaped && byte == b'\\';
            } else {
                match byte {
                    b'"' => is_text = true,
                    b'{' | b'[' => depth += 1,
                    b',' | b']' if depth == 0 => return Ok(Step::Element(start)),
                    b'}' | b']' => depth = depth.saturating_sub(1),
                    _ => {}
                }
            }
            self.bytes.push(byte);
            self.bump(byte);
            if byte == b'}' && depth == 0 && !is_text {
                return Ok(Step::Element(start));
            }
            if self.bytes.len() > LINE_BYTES_MAX {
                let reason = format!("the event is longer than {LINE_BYTES_MAX} bytes");
                let remedy = "look for a brace or a quote that is not closed";
                return Err(start.refuse(self.file, reason, remedy));
            }
        }
        Ok(Step::Cut(
            self.torn(start, "it ends in the middle of an event"),
        ))
    }

    fn torn(&self, start: Place, reason: &str) -> TornLine {
        TornLine {
            line: start.line,
            bytes: self.bytes.len(),
            reason: reason.to_owned(),
        }
    }

    fn skip_mark(&mut self) -> Result<(), ReadError> {
        if self.fill()?.starts_with(BYTE_ORDER_MARK) {
            self.reader.consume(BYTE_ORDER_MARK.len());
        }
        Ok(())
    }

    fn skip_blank(&mut self) -> Result<(), ReadError> {
        self.bytes.clear();
        while let Some(byte) = self.peek()?.filter(u8::is_ascii_whitespace) {
            self.bump(byte);
        }
        Ok(())
    }

    fn peek(&mut self) -> Result<Option<u8>, ReadError> {
        Ok(self.fill()?.first().copied())
    }

    fn bump(&mut self, byte: u8) {
        self.reader.consume(1);
        if byte == b'\n' {
            self.place = Place {
                line: self.place.line + 1,
                column: 1,
            };
        } else {
            self.place.column += 1;
        }
    }

    fn fill(&mut self) -> Result<&[u8], ReadError> {
        let line = self.place.line;
        self.reader.fill_buf().map_err(|cause| ReadError::Io {
            file: self.file.to_owned(),
            line,
            cause,
        })
    }
}
