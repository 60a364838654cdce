//! Histories as the commands take them: a file, or the folder of a run.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use anyhow::Error;
use lockstorm_checker::history::{self, EventSink, Format, Reading};
use lockstorm_reports::open_stored;

use super::exit::MissingInput;
use super::output;
use crate::folder::HISTORY;

/// How much of a file is read at once: enough that the calls of the system cost nothing.
const READ_BYTES: usize = 256 * 1024;

/// Reads the history at `path` into `sink`, and says it where the last line is torn.
///
/// # Errors
/// When the file cannot be opened, or is no history.
pub fn read(
    path: &Path,
    from: Option<Format>,
    sink: &mut impl EventSink,
) -> Result<Reading, Error> {
    // What the user names is opened whatever it is; what a folder holds only if it is a file.
    let (path, file) = if path.is_dir() {
        let path = path.join(HISTORY);
        let file = open_stored(&path);
        (path, file)
    } else {
        (path.to_owned(), File::open(path))
    };
    let name = path.display().to_string();
    let file = file.map_err(|source| MissingInput {
        path: name.clone(),
        source,
    })?;
    let reading = history::read(
        BufReader::with_capacity(READ_BYTES, file),
        &name,
        from,
        sink,
    )?;
    if let Some(torn) = &reading.torn {
        output::human(&format!(
            "{name}: line {} is torn ({} bytes) and left out: {}",
            torn.line, torn.bytes, torn.reason
        ));
    }
    Ok(reading)
}
