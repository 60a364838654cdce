//! Any history → its events, whatever format it is in.

use std::io::{BufRead, Cursor, Read as _};

use super::atlasdb;
use super::edn::{self, Dialect};
use super::error::ReadError;
use super::format::Format;
use super::jepsen_log;
use super::jsonl;
use super::sink::{EventSink, Reading};

/// How much of a history is looked at to tell its format: enough for the comments and the other
/// log lines that may come before the first event.
const HEAD_BYTES: u64 = 64 * 1024;

/// How much of an unrecognised history is shown.
const BEGIN_CHARS: usize = 40;

/// Reads a history, which `source` names in errors, and hands it on event by event.
///
/// Nothing is kept but names and what each process waits for. Without `format` the content tells
/// which one it is.
///
/// # Errors
/// [`ReadError`] when the bytes cannot be had, when no format is recognised, or at the first event
/// that is malformed; the events before it were handed on. A last line that was cut short is no
/// error: it is [`Reading::torn`].
pub fn read(
    mut reader: impl BufRead,
    source: &str,
    format: Option<Format>,
    sink: &mut impl EventSink,
) -> Result<Reading, ReadError> {
    let mut head = Vec::new();
    let format = if let Some(format) = format {
        format
    } else {
        let taken = reader.by_ref().take(HEAD_BYTES).read_to_end(&mut head);
        taken.map_err(|cause| ReadError::Io {
            file: source.to_owned(),
            line: 0,
            cause,
        })?;
        Format::detect(&head).ok_or_else(|| unrecognised(source, &head))?
    };
    let reader = Cursor::new(head).chain(reader);
    let reading = match format {
        Format::Jsonl => jsonl::stream(reader, source, sink),
        Format::Json => jsonl::stream_array(reader, source, sink),
        Format::Edn => edn::stream(reader, source, Dialect::Jepsen, sink),
        Format::JepsenLog => jepsen_log::stream(reader, source, sink),
        Format::Porcupine => edn::stream(reader, source, Dialect::Porcupine, sink),
        Format::AtlasDb => atlasdb::stream(reader, source, sink),
    }?;
    Ok(Reading {
        format: Some(format),
        ..reading
    })
}

fn unrecognised(source: &str, head: &[u8]) -> ReadError {
    let text = String::from_utf8_lossy(head);
    ReadError::Unrecognised {
        file: source.to_owned(),
        begin: text.trim_start().chars().take(BEGIN_CHARS).collect(),
    }
}
