//! The files of a run folder, as they are read: a folder may come from somebody else, and what it
//! leads to may not.
//!
//! For: opening them, never through a link, and never a pipe or a device, which have no end. Not
//! for: files that a user names by themselves.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Opens a file of a run folder.
///
/// # Errors
/// Those of the system; and what is no regular file is refused, a link as well.
pub fn open_stored(path: &Path) -> io::Result<File> {
    let listed = fs::symlink_metadata(path)?;
    let kind = listed.file_type();
    if !kind.is_file() {
        let what = if kind.is_symlink() {
            "it is a link, and links out of a run folder are not followed"
        } else if kind.is_dir() {
            "it is a folder"
        } else {
            "it is a pipe or a device"
        };
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    let file = File::open(path)?;
    let opened = file.metadata()?;
    if (opened.dev(), opened.ino()) == (listed.dev(), listed.ino()) {
        Ok(file)
    } else {
        Err(io::Error::other("it was replaced while it was opened"))
    }
}

/// The text of a file, of at most `bytes_max` bytes.
pub(crate) fn text_of(file: File, bytes_max: u64) -> io::Result<String> {
    let mut text = String::new();
    let read = file.take(bytes_max + 1).read_to_string(&mut text)?;
    if read as u64 > bytes_max {
        let what = format!("it is larger than {bytes_max} bytes, as none is that was stored");
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    Ok(text)
}

/// Where the run of a suite is stored that its record says lies at `run`; `None` where that is not
/// inside of `suite`, by links or otherwise.
pub fn inside(suite: &Path, run: &str) -> Option<PathBuf> {
    let path = suite.join(run);
    let is_inside = match (suite.canonicalize(), path.canonicalize()) {
        (Ok(suite), Ok(path)) => path != suite && path.starts_with(suite),
        (_, _) => false,
    };
    is_inside.then_some(path)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_regular_files_are_opened() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let path = |name: &str| folder.path().join(name);
        fs::write(path("file"), "text").expect("the folder is ours");
        symlink(path("file"), path("link")).expect("the folder is ours");
        let file = open_stored(&path("file")).expect("it is a file");
        assert_eq!(text_of(file, 4).expect("it is short"), "text");
        let file = open_stored(&path("file")).expect("it is a file");
        let long = text_of(file, 3).expect_err("it is longer").to_string();
        assert!(long.contains("larger than 3 bytes"), "{long}");
        let said = |path: &Path| open_stored(path).expect_err("it is none").to_string();
        assert!(said(&path("link")).contains("it is a link"));
        assert!(said(folder.path()).contains("it is a folder"));
        assert!(said(Path::new("/dev/zero")).contains("a pipe or a device"));
        let gone = open_stored(&path("gone")).expect_err("it is not there");
        assert_eq!(gone.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn what_lies_elsewhere_is_not_inside() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let suite = folder.path().join("suite");
        for name in ["suite/cells/a", "other"] {
            fs::create_dir_all(folder.path().join(name)).expect("the folder is ours");
        }
        symlink(folder.path().join("other"), suite.join("cells/b")).expect("the folder is ours");
        assert_eq!(inside(&suite, "cells/a"), Some(suite.join("cells/a")));
        for outside in ["cells/b", "../other", ".", "", "/", "/etc", "cells/gone"] {
            assert_eq!(inside(&suite, outside), None, "{outside}");
        }
    }
}
