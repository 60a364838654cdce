//! Tries of one run: again, if it was not as expected and proved nothing, or if this machine kept
//! it from telling.

use std::fs;
use std::io;
use std::path::Path;

use lockstorm_reports::{EarlierTry, Head, RunRecord, write_run};

use super::runner::{self, RunError, RunSettings};
use crate::environment_error::EnvironmentError;
use crate::plan::Job;

/// Tries after one in which this machine stood still, whatever was asked for: on a busy machine the
/// one situation that breaks a promise would be silently missing.
const HELD_UP_RETRIES: usize = 2;

/// Runs `job` in `folder`, and up to `retries` times more. What earlier tries left lies in folders
/// of their own below it, and the record of the last one names them.
///
/// # Errors
/// As [`runner::run`].
pub async fn run(
    job: &Job,
    folder: &Path,
    settings: &RunSettings,
    retries: u32,
) -> Result<RunRecord, RunError> {
    let mut earlier = Vec::new();
    loop {
        let mut record = runner::run(job, folder, settings).await?;
        let retries = if record.was_held_up() {
            HELD_UP_RETRIES.max(retries as usize)
        } else if record.may_be_tried_again() {
            retries as usize
        } else {
            0
        };
        if earlier.len() >= retries || settings.interrupt.is_cancelled() {
            if !earlier.is_empty() {
                record.earlier = earlier;
                write_run(folder, &record)?;
            }
            return Ok(record);
        }
        let name = format!("try-{}", earlier.len() + 1);
        set_aside(folder, &name).map_err(EnvironmentError::io(
            "set aside",
            folder.display().to_string(),
        ))?;
        settings.progress.say("is tried again");
        earlier.push(EarlierTry {
            folder: name,
            outcome: record.outcome,
            found: Head::of_run(&record).found,
        });
    }
}

/// Moves everything in `folder`, but for earlier tries, into a folder below it.
fn set_aside(folder: &Path, name: &str) -> io::Result<()> {
    let aside = folder.join(name);
    let entries: Vec<_> = fs::read_dir(folder)?.collect::<Result<_, _>>()?;
    fs::create_dir(&aside)?;
    for entry in entries {
        let is_try = entry.file_name().to_string_lossy().starts_with("try-");
        if !is_try {
            fs::rename(entry.path(), aside.join(entry.file_name()))?;
        }
    }
    Ok(())
}
