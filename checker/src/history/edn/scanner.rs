//! Bytes → forms, one at a time, with the place of each.

use std::io::{BufRead, ErrorKind};

use super::form::Form;
use crate::history::error::ReadError;
use crate::history::intake::Place;

/// Deepest nesting that is read. Histories nest three or four deep; the limit keeps the stack, and
/// is above the 128 of the JSON reader, so that what is read from JSON can be read from EDN too.
const DEPTH_MAX: usize = 160;

/// Longest event that is read, in bytes. Events take some hundred; the limit keeps a missing brace
/// from pulling the rest of the file into memory.
const FORM_BYTES_MAX: usize = 1024 * 1024;

/// Reason why a form cannot be read.
#[derive(Debug)]
pub(in crate::history) enum Fault {
    /// The input ends inside it.
    Cut,
    Refused(ReadError),
}

impl From<ReadError> for Fault {
    fn from(error: ReadError) -> Self {
        Self::Refused(error)
    }
}

/// Reads forms.
pub(in crate::history) struct Scanner<'a, R> {
    reader: R,
    file: &'a str,
    place: Place,
    /// Bytes of the form that is being read.
    taken: usize,
}

impl<'a, R: BufRead> Scanner<'a, R> {
    /// Reads what stands in `file` from `place` on.
    pub(in crate::history) fn new(reader: R, file: &'a str, place: Place) -> Self {
        Self {
            reader,
            file,
            place,
            taken: 0,
        }
    }

    pub(in crate::history) fn place(&self) -> Place {
        self.place
    }

    /// Returns the number of bytes of the present event that were read.
    pub(super) fn taken(&self) -> usize {
        self.taken
    }

    /// Begins the next event.
    pub(super) fn begin(&mut self) {
        self.taken = 0;
    }

    pub(in crate::history) fn refuse(
        &self,
        place: Place,
        reason: impl Into<String>,
        remedy: impl Into<String>,
    ) -> ReadError {
        place.refuse(self.file, reason, remedy)
    }

    /// The next byte, which is not taken.
    pub(super) fn peek(&mut self) -> Result<Option<u8>, ReadError> {
        loop {
            match self.reader.fill_buf() {
                Ok(bytes) => return Ok(bytes.first().copied()),
                Err(cause) if cause.kind() == ErrorKind::Interrupted => {}
                Err(cause) => {
                    return Err(ReadError::Io {
                        file: self.file.to_owned(),
                        line: self.place.line - 1,
                        cause,
                    });
                }
            }
        }
    }

    /// Takes the byte that was peeked.
    pub(super) fn bump(&mut self, byte: u8) {
        self.reader.consume(1);
        self.taken += 1;
        if byte == b'\n' {
            self.place.line += 1;
            self.place.column = 1;
        } else if byte & 0xC0 != 0x80 {
            // The other bytes of a character do not count as columns.
            self.place.column += 1;
        }
    }

    /// Takes the next byte of a form.
    fn next(&mut self) -> Result<u8, Fault> {
        let byte = self.peek()?.ok_or(Fault::Cut)?;
        self.bump(byte);
        if self.taken > FORM_BYTES_MAX {
            return Err(Fault::Refused(self.refuse(
                self.place,
                format!("the event takes more than {FORM_BYTES_MAX} bytes"),
                "look for a brace or a quote that is not closed",
            )));
        }
        Ok(byte)
    }

    /// Passes over blanks, commas and comments.
    pub(in crate::history) fn skip_blank(&mut self) -> Result<(), ReadError> {
        let mut comment = false;
        while let Some(byte) = self.peek()? {
            comment = match byte {
                b'\n' => false,
                b';' => true,
                _ if comment || is_blank(byte) => comment,
                _ => break,
            };
            self.bump(byte);
        }
        Ok(())
    }

    /// Passes over the mark with which some editors begin a file.
    pub(super) fn skip_mark(&mut self) -> Result<(), ReadError> {
        for mark in *b"\xef\xbb\xbf" {
            if self.peek()? != Some(mark) {
                break;
            }
            self.bump(mark);
        }
        self.place = Place::START;
        Ok(())
    }

    /// The line in which the input ends, a line end at its very end not counted.
    pub(super) fn line_of_last_byte(&self) -> u64 {
        self.place.line - u64::from(self.place.column == 1)
    }

    /// Tells whether nothing but blanks is left.
    pub(in crate::history) fn is_done(&mut self) -> Result<bool, ReadError> {
        self.skip_blank()?;
        Ok(self.peek()?.is_none())
    }

    /// The next form.
    pub(in crate::history) fn form(&mut self) -> Result<Form, Fault> {
        self.nested(1)
    }

    /// The next form in a map of the uppermost level, or `None` where one is discarded.
    pub(super) fn field(&mut self) -> Result<Option<Form>, Fault> {
        self.item(1)
    }

    /// Takes the tag of an event; where a form is discarded instead, takes that and says `false`.
    pub(super) fn tag(&mut self) -> Result<bool, Fault> {
        self.next()?;
        if self.peek()?.ok_or(Fault::Cut)? == b'_' {
            self.next()?;
            self.form()?;
            return Ok(false);
        }
        self.word()?;
        Ok(true)
    }

    fn nested(&mut self, depth: usize) -> Result<Form, Fault> {
        loop {
            if let Some(form) = self.item(depth)? {
                return Ok(form);
            }
        }
    }

    /// The next form, or `None` where one is discarded by `#_`.
    fn item(&mut self, depth: usize) -> Result<Option<Form>, Fault> {
        self.skip_blank()?;
        let place = self.place;
        if depth > DEPTH_MAX {
            return Err(Fault::Refused(self.refuse(
                place,
                format!("forms are nested more than {DEPTH_MAX} deep"),
                "flatten the value",
            )));
        }
        let form = match self.peek()?.ok_or(Fault::Cut)? {
            b'"' => Form::Text(self.string()?),
            b'[' => Form::Vector(self.sequence(b']', depth)?),
            b'(' => Form::Vector(self.sequence(b')', depth)?),
            b'{' => Form::Map(self.map(depth)?),
            b'#' => return self.dispatch(depth),
            b'\\' => Form::Text(self.character()?),
            byte @ (b']' | b')' | b'}') => {
                return Err(Fault::Refused(self.refuse(
                    place,
                    format!("{:?} closes nothing", char::from(byte)),
                    "delete it, or open what it closes",
                )));
            }
            _ => Form::of_word(self.word()?),
        };
        Ok(Some(form))
    }

    /// Takes everything up to the closing byte.
    fn sequence(&mut self, close: u8, depth: usize) -> Result<Vec<Form>, Fault> {
        self.next()?;
        let mut forms = Vec::new();
        while !self.closes(close)? {
            forms.extend(self.item(depth + 1)?);
        }
        Ok(forms)
    }

    fn map(&mut self, depth: usize) -> Result<Vec<(Form, Form)>, Fault> {
        let place = self.place;
        let mut forms = self.sequence(b'}', depth)?.into_iter();
        let mut entries = Vec::with_capacity(forms.len() / 2);
        while let Some(key) = forms.next() {
            let value = forms.next().ok_or_else(|| self.odd(place))?;
            entries.push((key, value));
        }
        Ok(entries)
    }

    /// The refusal of a map whose last key has no value.
    pub(super) fn odd(&self, place: Place) -> ReadError {
        let remedy = "add the value, or delete the key";
        self.refuse(place, "the map has a key without a value", remedy)
    }

    /// Takes the closing byte of a collection if it is next.
    pub(super) fn closes(&mut self, close: u8) -> Result<bool, Fault> {
        self.skip_blank()?;
        if self.peek()?.ok_or(Fault::Cut)? != close {
            return Ok(false);
        }
        self.next()?;
        Ok(true)
    }

    /// Reads what begins with `#`: a set, a regular expression, a tag, or a form to discard.
    fn dispatch(&mut self, depth: usize) -> Result<Option<Form>, Fault> {
        self.next()?;
        match self.peek()?.ok_or(Fault::Cut)? {
            b'{' => Ok(Some(Form::Vector(self.sequence(b'}', depth)?))),
            b'"' => Ok(Some(Form::Text(self.string()?))),
            b'#' => Ok(Some(Form::Word(format!("#{}", self.word()?)))),
            b'_' => {
                self.next()?;
                self.nested(depth + 1)?;
                Ok(None)
            }
            _ => {
                self.word()?;
                self.nested(depth + 1).map(Some)
            }
        }
    }

    /// Everything up to a blank or a bracket: a number, a keyword, a symbol, a tag.
    fn word(&mut self) -> Result<String, Fault> {
        let place = self.place;
        let mut bytes = vec![self.next()?];
        loop {
            // Nobody knows whether a word at the very end is whole.
            let byte = self.peek()?.ok_or(Fault::Cut)?;
            if is_blank(byte) || b"\"()[]{};\\".contains(&byte) {
                return self.utf8(bytes, place);
            }
            bytes.push(self.next()?);
        }
    }

    fn utf8(&self, bytes: Vec<u8>, place: Place) -> Result<String, Fault> {
        String::from_utf8(bytes).map_err(|_| {
            let remedy = "write the file in UTF-8";
            Fault::Refused(self.refuse(place, "the text is not UTF-8", remedy))
        })
    }

    fn string(&mut self) -> Result<String, Fault> {
        let place = self.place;
        self.next()?;
        let mut bytes = Vec::new();
        loop {
            match self.next()? {
                b'"' => return self.utf8(bytes, place),
                b'\\' => {
                    let place = self.place;
                    let escaped = self.escape(place)?;
                    bytes.extend_from_slice(escaped.encode_utf8(&mut [0; 4]).as_bytes());
                }
                byte => bytes.push(byte),
            }
        }
    }

    /// Reads what follows a backslash in a string.
    fn escape(&mut self, place: Place) -> Result<char, Fault> {
        match self.next()? {
            b'n' => Ok('\n'),
            b't' => Ok('\t'),
            b'r' => Ok('\r'),
            b'b' => Ok('\u{8}'),
            b'f' => Ok('\u{c}'),
            byte @ (b'"' | b'\\' | b'/' | b'\'') => Ok(char::from(byte)),
            b'u' => {
                let mut code = 0;
                for _ in 0..4 {
                    let digit = char::from(self.next()?).to_digit(16);
                    code = code * 16 + digit.ok_or_else(|| self.bad_escape(place))?;
                }
                // Half of a pair stands for no character; what it meant is lost either way.
                Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
            }
            _ => Err(self.bad_escape(place).into()),
        }
    }

    fn bad_escape(&self, place: Place) -> ReadError {
        let remedy = "write \\n, \\t, \\r, \\\", \\\\ or \\u with four digits";
        self.refuse(place, "there is no such escape in a string", remedy)
    }

    /// `\a`, `\newline`, `\u0041`.
    fn character(&mut self) -> Result<String, Fault> {
        self.next()?;
        let word = self.word()?;
        Ok(match word.as_str() {
            "newline" => "\n".to_owned(),
            "space" => " ".to_owned(),
            "tab" => "\t".to_owned(),
            "return" => "\r".to_owned(),
            _ => word,
        })
    }
}

fn is_blank(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == b','
}
