//! A history in EDN → its events, one at a time.

use std::io::BufRead;

use super::event::{Dialect, Fields};
use super::form::Form;
use super::scanner::{Fault, Scanner};
use crate::history::guard::{bounded, tells_texts};
use crate::history::intake::{Intake, Place};
use crate::history::read::Terms;
use crate::history::{EventSink, ReadError, Reading, TornLine};

/// Hands on the events of a history: maps one after another, or one vector of them.
///
/// A last event that begins on the last line and is cut short there is torn. Anything else that is
/// left open is an error: too much could be lost with it.
pub(in crate::history) fn stream(
    reader: impl BufRead,
    file: &str,
    dialect: Dialect,
    terms: Terms,
    sink: &mut impl EventSink,
) -> Result<Reading, ReadError> {
    let mut scanner = Scanner::new(reader, file, Place::START);
    scanner.skip_mark()?;
    let mut intake = Intake::new(file, terms, sink);
    let mut open = None;
    let mut first = true;
    loop {
        scanner.skip_blank()?;
        scanner.begin();
        let place = scanner.place();
        let Some(byte) = scanner.peek()? else {
            if open.is_some() {
                intake.reading.torn = Some(torn(place, 0, "the vector is not closed"));
            }
            return intake.finish();
        };
        match (byte, open) {
            (b'[', None) if first => {
                scanner.bump(byte);
                open = Some(b']');
            }
            (b'(', None) if first => {
                scanner.bump(byte);
                open = Some(b')');
            }
            (_, Some(close)) if byte == close => {
                scanner.bump(byte);
                return end(scanner, intake.finish()?);
            }
            _ => match event(&mut scanner, dialect, &mut intake, place) {
                Ok(()) => {}
                Err(Fault::Refused(error)) => return Err(error),
                Err(Fault::Cut) if scanner.line_of_last_byte() == place.line => {
                    let reason = "it ends in the middle of an event";
                    intake.reading.torn = Some(torn(place, scanner.taken(), reason));
                    return intake.finish();
                }
                Err(Fault::Cut) => {
                    let remedy = "look for a brace or a quote that is not closed";
                    return Err(scanner.refuse(place, "the event has no end", remedy));
                }
            },
        }
        first = false;
    }
}

fn torn(place: Place, bytes: usize, reason: &str) -> TornLine {
    TornLine {
        line: place.line,
        bytes,
        reason: reason.to_owned(),
    }
}

/// Nothing may follow the vector.
fn end(mut scanner: Scanner<impl BufRead>, reading: Reading) -> Result<Reading, ReadError> {
    if scanner.is_done()? {
        return Ok(reading);
    }
    let remedy = "put all events into one vector, or write them without one";
    Err(scanner.refuse(scanner.place(), "something follows the vector", remedy))
}

/// Reads one event, or passes over a discarded form.
fn event(
    scanner: &mut Scanner<impl BufRead>,
    dialect: Dialect,
    intake: &mut Intake<impl EventSink>,
    place: Place,
) -> Result<(), Fault> {
    while scanner.peek()? == Some(b'#') {
        if !scanner.tag()? {
            return Ok(());
        }
        scanner.skip_blank()?;
    }
    if scanner.peek()?.ok_or(Fault::Cut)? != b'{' {
        let remedy = "write each event as a map: {:type :invoke, :process 0, :f :acquire}";
        return Err(scanner
            .refuse(scanner.place(), "this is no event", remedy)
            .into());
    }
    scanner.bump(b'{');
    let mut fields = Fields::new(place);
    while !scanner.closes(b'}')? {
        let Some(key) = scanner.field()? else {
            continue;
        };
        // This passes over blanks, so that the place is that of the value.
        if scanner.closes(b'}')? {
            return Err(scanner.odd(place).into());
        }
        let at = scanner.place();
        let form = scanner.form()?;
        match key {
            Form::Text(name) => fields.keep(name, form),
            other => fields.set(intake.file, &other.into_text(), form, at)?,
        }
    }
    if fields.is_note_of(tells_texts)
        && let Err((reason, remedy)) = bounded("note", scanner.taken())
    {
        return Err(place.refuse(intake.file, reason, remedy).into());
    }
    fields.finish(dialect, intake)?;
    Ok(())
}
