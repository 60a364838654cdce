//! Adds to stored records what older versions did not store: what the lock cost.

use std::io::BufReader;
use std::path::Path;

use lockstorm_checker::history::read_jsonl;

use crate::encode::{Record, read_record, write_run, write_suite};
use crate::error::RenderError;
use crate::model::{Cost, RunRecord};
use crate::render::HISTORY_FILE;
use crate::stored::{inside, open_stored};

/// Works out the costs of the run stored in `folder`, or of all runs of the suite, from their
/// histories, where the record has none, and stores them there.
///
/// What has no history that can be read stays as it is, and so do runs of a suite that lie
/// elsewhere.
///
/// # Errors
/// [`RenderError`] when there is no record, or it cannot be written again.
pub fn amend(folder: &Path) -> Result<(), RenderError> {
    match read_record(folder)? {
        Record::Run(mut run) => {
            if amend_run(folder, &mut run) {
                write_run(folder, &run)?;
            }
        }
        Record::Suite(mut suite) => {
            let mut is_changed = false;
            for run in &mut suite.runs {
                let Some(path) = inside(folder, &run.folder) else {
                    continue;
                };
                if amend_run(&path, &mut run.record) {
                    write_run(&path, &run.record)?;
                    is_changed = true;
                }
            }
            if is_changed {
                write_suite(folder, &suite)?;
            }
        }
    }
    Ok(())
}

/// Tells whether there was something to add.
fn amend_run(folder: &Path, run: &mut RunRecord) -> bool {
    if run.cost.is_some() {
        return false;
    }
    let path = folder.join(HISTORY_FILE);
    let Ok(file) = open_stored(&path) else {
        return false;
    };
    let history = read_jsonl(BufReader::new(file), &path.display().to_string());
    // Nobody has counted round trips then, and a history does not tell them.
    run.cost = history.ok().map(|history| Cost::of(&history, None));
    run.cost.is_some()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::encode::{read_run, read_suite};
    use crate::sample;

    #[test]
    fn the_costs_of_old_runs_are_worked_out_once_and_stored() {
        let folder = tempfile::tempdir().unwrap();
        let mut suite = sample::suite();
        suite.runs[0].record.cost = None;
        suite.runs[1].record.cost = None;
        let old = folder.path().join(&suite.runs[0].folder);
        fs::create_dir_all(&old).unwrap();
        fs::write(old.join("history.jsonl"), sample::FAILOVER_HISTORY).unwrap();
        write_suite(folder.path(), &suite).unwrap();

        amend(folder.path()).unwrap();

        let amended = read_suite(folder.path()).unwrap();
        let grants = |at: usize| amended.runs[at].record.cost.map(|cost| cost.grants);
        assert_eq!(grants(0), Some(2), "from its history");
        assert_eq!(grants(1), None, "which this one has lost");
        assert_eq!(read_run(&old).unwrap(), amended.runs[0].record);
        assert_eq!(
            amended.runs[4], suite.runs[4],
            "what is known is left alone"
        );
    }
}
