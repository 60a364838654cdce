//! Writes files whole or not at all.

use std::fs;
use std::path::Path;

use crate::error::RenderError;

/// Writes `bytes` beside `path` and renames, so that a reader never sees half a file and a
/// failure leaves nothing behind.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), RenderError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    fs::write(&beside, bytes)
        .and_then(|()| fs::rename(&beside, path))
        .map_err(|source| {
            // The write has failed already; what remains of it is removed as well as can be.
            let _ = fs::remove_file(&beside);
            RenderError::Write {
                path: path.to_owned(),
                source,
            }
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_that_fails_leaves_nothing_behind() {
        // The target is a folder: the bytes can be written beside it, the rename must fail.
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("report.html");
        fs::create_dir(&target).unwrap();
        fs::write(target.join("inside"), b"x").unwrap();

        let error = write_whole(&target, b"bytes").unwrap_err();

        assert!(error.to_string().contains("report.html"));
        let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(left.len(), 1, "only the folder that was there before");
    }
}
