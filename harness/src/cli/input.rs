//! Histories as the commands take them: a file, or the folder of a run.

use std::path::Path;

use anyhow::Error;
use lockstorm_checker::history::{self, EventSink, ReadOptions, Reading, Unread};
use lockstorm_reports::open_stored;

use super::bytes;
use super::exit::MissingInput;
use crate::folder::HISTORY;
use crate::output;

/// Returns the name of an input: its path, or "standard input".
pub fn name(path: &Path) -> String {
    match path.to_str() {
        Some(bytes::STDIN) => "standard input".to_owned(),
        Some(_) | None => path.display().to_string(),
    }
}

/// Strictness with which a history is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Care {
    /// Refuses what is nearly one of our words, since a verdict is to rest on the history.
    Strict,
    /// Passes on what nobody understands as it stands.
    Copy,
}

/// Reads the history at `path` into `sink`, and says what of it was left out or not read.
///
/// # Errors
/// When the file cannot be opened, or is no history.
pub fn read(
    path: &Path,
    options: ReadOptions,
    care: Care,
    sink: &mut impl EventSink,
) -> Result<Reading, Error> {
    // What the user names is opened whatever it is; what a folder holds only if it is a file.
    let (path, file) = if path.is_dir() {
        let path = path.join(HISTORY);
        let file = open_stored(&path).map(bytes::raw);
        (path, file)
    } else {
        (path.to_owned(), bytes::open(path))
    };
    let name = name(&path);
    let missing = |source| MissingInput {
        path: name.clone(),
        source,
    };
    let file = file.and_then(bytes::unpacked).map_err(missing)?;
    let reading = match care {
        Care::Strict => history::read_strictly(file, &name, &options, sink),
        Care::Copy => history::read(file, &name, options.format, sink),
    }?;
    if reading.unused > 0 {
        output::human(&format!(
            "{name}: ends with {} NUL bytes: the program that wrote it was killed; the events \
             before them are read",
            reading.unused
        ));
    }
    if let Some(torn) = &reading.torn {
        output::human(&format!(
            "{name}: line {} is torn ({} bytes) and left out: {}",
            torn.line, torn.bytes, torn.reason
        ));
    }
    if reading.unread.events > 0 {
        output::human(&format!("warning: {name}: {}", unread(&reading.unread)));
    }
    Ok(reading)
}

fn unread(unread: &Unread) -> String {
    let (number, carry) = match unread.events {
        1 => ("1 event".to_owned(), "carries"),
        many => (format!("{many} events"), "carry"),
    };
    let fields: Vec<_> = unread
        .fields
        .iter()
        .map(|name| format!("{name:?}"))
        .collect();
    format!(
        "{number} {carry} fields that are not read: {}",
        fields.join(", ")
    )
}
