//! `index.html` of a folder of runs, written again whenever a run ends.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::RenderError;
use crate::files::write_whole;
use crate::html::{INDEX_TITLE, index_page};
use crate::listing::Listing;

/// Name of the list.
const INDEX_FILE: &str = "index.html";

/// Writes `index.html` into the folder of runs `out`, and gives its path. Two that do it at once
/// must take turns, or the list may miss the run of one of them.
///
/// # Errors
/// [`RenderError::Write`], and [`RenderError::Foreign`] where the page there is somebody else's.
pub fn write_index(out: &Path) -> Result<PathBuf, RenderError> {
    let path = out.join(INDEX_FILE);
    let old = fs::read_to_string(&path).unwrap_or_default();
    if !old.is_empty() && !old.contains(INDEX_TITLE) {
        return Err(RenderError::Foreign { path });
    }
    write_whole(&path, index_page(&Listing::of(out)).as_bytes())?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_of_somebody_else_is_left_alone() {
        let out = tempfile::tempdir().unwrap();
        let path = out.path().join(INDEX_FILE);
        fs::write(&path, "<title>My garden</title>").unwrap();
        let error = write_index(out.path()).unwrap_err().to_string();
        assert!(error.contains("left alone"), "{error}");
        assert_eq!(
            fs::read_to_string(&path).unwrap(),
            "<title>My garden</title>"
        );
        fs::remove_file(&path).unwrap();
        write_index(out.path()).unwrap();
        write_index(out.path()).unwrap();
    }

    #[test]
    fn an_empty_folder_has_an_empty_list() {
        let out = tempfile::tempdir().unwrap();
        let path = write_index(out.path()).unwrap();
        let page = fs::read_to_string(path).unwrap();
        assert!(page.contains("No run has ended yet."), "{page}");
    }
}
