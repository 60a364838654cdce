//! Reads and writes the record of a hunt, and its pages.

use std::path::{Path, PathBuf};

use crate::error::RenderError;
use crate::files::write_whole;
use crate::html::hunt_page;
use crate::junit::junit_hunt;
use crate::markdown::markdown_hunt;
use crate::model::{HUNT_VERSION, HuntRecord};
use crate::stored::{open_stored, text_of};

/// Name of the record in the folder of a hunt.
pub const HUNT_FILE: &str = "hunt.json";

/// Bytes of a record that are read: many times what the longest hunt writes.
const HUNT_BYTES_MAX: u64 = 64 << 20;

/// Writes the record of a hunt into its folder, and `report.html`, `report.md` and
/// `junit.xml`. Gives the paths.
///
/// # Errors
/// [`RenderError::Write`], and [`RenderError::Junit`] when the document cannot be written as XML.
pub fn write_hunt(folder: &Path, hunt: &HuntRecord) -> Result<Vec<PathBuf>, RenderError> {
    let mut json = serde_json::to_string_pretty(hunt).expect("a record can be written as JSON");
    json.push('\n');
    let files = [
        (HUNT_FILE, json),
        ("report.html", hunt_page(hunt)),
        ("report.md", markdown_hunt(hunt)),
        ("junit.xml", junit_hunt(hunt)?),
    ];
    let mut paths = Vec::new();
    for (name, text) in files {
        let path = folder.join(name);
        write_whole(&path, text.as_bytes())?;
        paths.push(path);
    }
    Ok(paths)
}

/// Reads the record of a hunt from its folder.
///
/// # Errors
/// [`RenderError`] names the file: unreadable, malformed, or of another version.
pub fn read_hunt(folder: &Path) -> Result<HuntRecord, RenderError> {
    let path = folder.join(HUNT_FILE);
    let text = open_stored(&path).and_then(|file| text_of(file, HUNT_BYTES_MAX));
    let text = text.map_err(|source| RenderError::Read {
        path: path.clone(),
        source,
    })?;
    let hunt: HuntRecord =
        serde_json::from_str(&text).map_err(|source| RenderError::Malformed {
            path: path.clone(),
            source,
        })?;
    if hunt.version != HUNT_VERSION {
        return Err(RenderError::Version {
            path,
            found: hunt.version,
            known: HUNT_VERSION,
        });
    }
    Ok(hunt)
}
