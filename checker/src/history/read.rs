//! Any history → its events, whatever format it is in.

use std::io::{BufRead, Cursor, Read as _};

use super::edn::{self, Dialect};
use super::error::ReadError;
use super::format::Format;
use super::relay::relayed;
use super::sink::{EventSink, Reading};
use super::stamp::{Clock, TimeUnit};
use super::survey::Survey;
use super::{atlasdb, jepsen_log, jsonl};

/// How much of a history is looked at to tell its format: enough for the comments and the other
/// log lines that may come before the first event.
const HEAD_BYTES: u64 = 64 * 1024;

/// How much of an unrecognised history is shown.
const BEGIN_CHARS: usize = 40;

/// Settings by which the caller helps to read a history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// Format in which it is written; absent: its content tells it.
    pub format: Option<Format>,
    /// Unit of its times; absent: nanoseconds, unless they are dates, or plainly count another unit
    /// since 1970.
    pub time_unit: Option<TimeUnit>,
}

/// How events are taken, whatever format they stand in.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Terms {
    /// True if a word that is nearly ours is refused.
    pub(super) is_strict: bool,
    /// Unit of times, if somebody knows.
    pub(super) unit: Option<TimeUnit>,
}

impl Terms {
    /// The clock of a history that is read so.
    pub(super) fn clock(self) -> Clock {
        Clock::new(self.unit, self.is_strict)
    }
}

/// Reads a history, which `source` names in errors, and hands it on event by event.
///
/// Nothing is kept but names and what each process waits for. Without `format` the content tells
/// which one it is. Functions and fields that this version does not know are handed on.
///
/// # Errors
/// [`ReadError`] when the bytes cannot be had, when no format is recognised, or at the first event
/// that is malformed; the events before it were handed on. A last line that was cut short is no
/// error: it is [`Reading::torn`].
pub fn read(
    reader: impl BufRead,
    source: &str,
    format: Option<Format>,
    sink: &mut impl EventSink,
) -> Result<Reading, ReadError> {
    read_on(reader, source, format, Terms::default(), sink)
}

/// Reads a history of others: as [`read`] does, but what is nearly one of our words and would
/// change the verdict is an error too, and the fields that nobody reads are [`Reading::unread`].
///
/// # Errors
/// As [`read`], and at the first word that is nearly ours.
pub fn read_strictly(
    reader: impl BufRead,
    source: &str,
    options: &ReadOptions,
    sink: &mut impl EventSink,
) -> Result<Reading, ReadError> {
    let terms = Terms {
        is_strict: true,
        unit: options.time_unit,
    };
    read_on(reader, source, options.format, terms, sink)
}

fn read_on(
    mut reader: impl BufRead,
    source: &str,
    format: Option<Format>,
    mut terms: Terms,
    sink: &mut impl EventSink,
) -> Result<Reading, ReadError> {
    let mut head = Vec::new();
    if format.is_none() || terms.is_strict {
        let taken = reader.by_ref().take(HEAD_BYTES).read_to_end(&mut head);
        taken.map_err(|cause| ReadError::Io {
            file: source.to_owned(),
            line: 0,
            cause,
        })?;
    }
    let format = match format {
        Some(format) => format,
        None => Format::detect(&head).ok_or_else(|| unrecognised(source, &head))?,
    };
    if terms.is_strict && terms.unit.is_none() {
        terms.unit = epoch_unit(&head, format);
    }
    let reader = Cursor::new(head).chain(reader);
    let reading = relayed(sink, |relay| read_as(format, reader, source, terms, relay))?;
    Ok(Reading {
        format: Some(format),
        time_unit: terms.unit,
        ..reading
    })
}

/// The unit of times since 1970, where their size and what lies between them say the same. Without
/// both it is for the user to say: a machine that runs for half an hour has as many nanoseconds as
/// there are milliseconds since 1970.
fn epoch_unit(head: &[u8], format: Format) -> Option<TimeUnit> {
    let mut survey = Survey::default();
    // The head ends anywhere; what comes before a mistake counts all the same.
    let _ = read_as(format, head, "", Terms::default(), &mut survey);
    let by_size = TimeUnit::of_epoch(survey.first()?.0)?;
    let fits = survey.doubt()?.unit? == by_size;
    fits.then_some(by_size)
}

fn read_as(
    format: Format,
    reader: impl BufRead,
    source: &str,
    terms: Terms,
    sink: &mut impl EventSink,
) -> Result<Reading, ReadError> {
    match format {
        Format::Jsonl => jsonl::stream(reader, source, terms, sink),
        Format::Json => jsonl::stream_array(reader, source, terms, sink),
        Format::Edn => edn::stream(reader, source, Dialect::Jepsen, terms, sink),
        Format::JepsenLog => jepsen_log::stream(reader, source, terms, sink),
        Format::Porcupine => edn::stream(reader, source, Dialect::Porcupine, terms, sink),
        Format::AtlasDb => atlasdb::stream(reader, source, terms, sink),
    }
}

fn unrecognised(source: &str, head: &[u8]) -> ReadError {
    let text = String::from_utf8_lossy(head);
    ReadError::Unrecognised {
        file: source.to_owned(),
        begin: text.trim_start().chars().take(BEGIN_CHARS).collect(),
    }
}
