//! Reasons why a history cannot be read.

use super::event::Nanos;
use super::format::Format;
use super::stamp::TimeUnit;
use super::survey::Doubt;
use crate::inert::visible;

/// A history that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The bytes could not be had.
    #[error(
        "cannot read {} after line {line}: {cause}; check that the file can be read",
        visible(file)
    )]
    Io {
        /// Name of the history.
        file: String,
        /// The last line that was read.
        line: u64,
        /// Error that the reader gave.
        #[source]
        cause: std::io::Error,
    },
    /// No format begins like this.
    #[error(
        "{} is no history that can be recognised: it begins with {begin:?}; say its format \
         with --from ({})",
        visible(file),
        Format::names()
    )]
    Unrecognised {
        /// Name of the history.
        file: String,
        /// Text with which it begins.
        begin: String,
    },
    /// The times can hardly be nanoseconds.
    #[error(
        "{}: {}; say what they count with --time-unit {}",
        visible(file),
        why(doubt),
        fitting(doubt.unit)
    )]
    Times {
        /// Name of the history.
        file: String,
        /// Evidence against nanoseconds.
        doubt: Doubt,
    },
    /// A line is no event, or cannot stand where it stands.
    #[error(
        "{}:{line}{}: {}; {}",
        visible(file),
        column_of(*.column),
        visible(reason),
        visible(remedy)
    )]
    Malformed {
        /// Name of the history.
        file: String,
        /// From 1.
        line: u64,
        /// From 1; 0 when it is about the line as a whole.
        column: usize,
        /// Description of what is wrong.
        reason: String,
        /// Remedy that sets it right.
        remedy: String,
    },
}

/// A column as it follows the line; nothing where it is about the line as a whole.
fn column_of(column: usize) -> String {
    match column {
        0 => String::new(),
        column => format!(":{column}"),
    }
}

/// Says what speaks against nanoseconds.
fn why(doubt: &Doubt) -> String {
    format!(
        "if its times count nanoseconds, it lasts {} in all and a call {}, but the shortest \
         lease {}",
        told(doubt.span),
        told(doubt.call),
        told(doubt.lease)
    )
}

/// A stretch of time in the unit that suits it.
fn told(time: Nanos) -> String {
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs")];
    let fit = units.into_iter().find(|(nanos, _)| time.0 >= *nanos);
    let (nanos, unit) = fit.unwrap_or((1, "ns"));
    format!(
        "{} {unit}",
        (time.0 as f64 / nanos as f64 * 10.0).round() / 10.0
    )
}

fn fitting(unit: Option<TimeUnit>) -> String {
    match unit {
        Some(unit) => format!("{unit} (which fits), or with --time-unit ns if they do"),
        None => "s, ms or us, or with --time-unit ns if they do".to_owned(),
    }
}
