//! Why a history cannot be read.

use super::format::Format;
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
        /// What the reader says.
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
        /// How it begins.
        begin: String,
    },
    /// A line is no event, or cannot stand where it stands.
    #[error(
        "{}:{line}{}: {}; {}",
        visible(file),
        column_of(*.column),
        visible(reason),
        visible(mend)
    )]
    Malformed {
        /// Name of the history.
        file: String,
        /// From 1.
        line: u64,
        /// From 1; 0 when it is about the line as a whole.
        column: usize,
        /// What is wrong.
        reason: String,
        /// What sets it right.
        mend: String,
    },
}

/// A column as it follows the line; nothing where it is about the line as a whole.
fn column_of(column: usize) -> String {
    match column {
        0 => String::new(),
        column => format!(":{column}"),
    }
}
