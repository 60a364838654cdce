//! The folder of a run: `runs/<scenario>/<UTC time>-<seed>/`, with `runs/latest` pointing at the
//! newest.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::environment_error::EnvironmentError;
use crate::seed::Seed;

/// Name of the history in a run folder.
pub const HISTORY: &str = "history.jsonl";
/// Name of the folder of runs in that of a suite.
pub const CELLS: &str = "cells";
/// Name of the effective scenario in a run folder.
pub const SCENARIO: &str = "scenario.toml";
/// Name of the database of orders in a run folder, where the lock guards one.
pub const ORDERS: &str = "orders.sqlite";
/// Folders tried before giving up, when runs of one seed start in the same second.
const NAMES_MAX: u32 = 1000;

/// Makes the folder of a new run below `out`, and points `latest` at it.
///
/// # Errors
/// When it cannot be made.
pub fn create(
    out: &Path,
    name: &str,
    started: Timestamp,
    seed: Seed,
) -> Result<PathBuf, EnvironmentError> {
    let time = started.strftime("%Y%m%dT%H%M%SZ");
    let parent = out.join(name);
    fs::create_dir_all(&parent).map_err(EnvironmentError::io("create", show(&parent)))?;
    let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
    for n in 0..NAMES_MAX {
        let suffix = if n == 0 {
            String::new()
        } else {
            format!("-{n}")
        };
        let folder = parent.join(format!("{time}-{}{suffix}", seed.0));
        match fs::create_dir(&folder) {
            Ok(()) => {
                point_latest(out, &folder);
                return Ok(folder);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
            Err(error) => return Err(EnvironmentError::io("create", show(&folder))(error)),
        }
    }
    Err(EnvironmentError::io(
        "create a new folder in",
        show(&parent),
    )(last))
}

/// A convenience that no run depends on: failing to move it fails nothing.
fn point_latest(out: &Path, folder: &Path) {
    let link = out.join("latest");
    let fresh = out.join(format!(".latest-{}", std::process::id()));
    let target = folder.strip_prefix(out).unwrap_or(folder);
    if std::os::unix::fs::symlink(target, &fresh).is_ok() && fs::rename(&fresh, &link).is_err() {
        let _ = fs::remove_file(&fresh);
    }
}

fn show(path: &Path) -> String {
    path.display().to_string()
}
