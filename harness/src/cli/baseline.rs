//! `--baseline`: what a report is compared with.

use std::path::{Component, Path, PathBuf};

use lockstorm_reports::{
    Changes, Known, Record, RenderError, RunRecord, SuiteRecord, SuiteRun, read_baseline,
    read_record, write_run, write_suite,
};

use crate::run::Finished;

/// The earlier run or suite, if one was named.
pub struct Baseline(Option<Record>);

impl Baseline {
    /// Reads it before anything else is done: whoever mistypes it need not wait for the run.
    ///
    /// # Errors
    /// When there is none at that place, or none that can be read.
    pub fn read(path: Option<&PathBuf>) -> Result<Self, RenderError> {
        let record = path.map(|path| read_baseline(path)).transpose()?;
        Ok(Self(record))
    }

    /// Notes in what has just ended in `folder` what changed against it.
    ///
    /// # Errors
    /// When the record cannot be written.
    pub fn note(&self, finished: &mut Finished, folder: &Path) -> Result<(), RenderError> {
        match (&self.0, finished) {
            (None, _) => Ok(()),
            (Some(baseline), Finished::Run(run)) => note_run(run, baseline, folder),
            (Some(baseline), Finished::Suite(suite, _)) => note_suite(suite, baseline, folder),
        }
    }

    /// The failures that it has, none of them if no baseline was named.
    pub fn known(&self) -> Option<Known> {
        self.0.as_ref().map(Known::of)
    }

    /// Notes in the record stored in `folder` what changed against the baseline. Without a baseline
    /// the record keeps what it has.
    ///
    /// # Errors
    /// When the record cannot be read or written.
    pub fn note_stored(&self, folder: &Path) -> Result<(), RenderError> {
        let Some(baseline) = &self.0 else {
            return Ok(());
        };
        match read_record(folder)? {
            Record::Run(mut run) => note_run(&mut run, baseline, folder),
            Record::Suite(mut suite) => note_suite(&mut suite, baseline, folder),
        }
    }
}

fn note_run(run: &mut RunRecord, baseline: &Record, folder: &Path) -> Result<(), RenderError> {
    run.changed = Some(Changes::of_run(run, baseline));
    write_run(folder, run)
}

fn note_suite(
    suite: &mut SuiteRecord,
    baseline: &Record,
    folder: &Path,
) -> Result<(), RenderError> {
    suite.changed = Some(Changes::of_suite(suite, baseline));
    for run in &mut suite.runs {
        run.record.changed = Some(Changes::of_cell(&run.record, baseline));
        // A comparison of runs that lie elsewhere leaves them as they are.
        if lies_inside(run) {
            write_run(&folder.join(&run.folder), &run.record)?;
        }
    }
    write_suite(folder, suite)
}

fn lies_inside(run: &SuiteRun) -> bool {
    let mut way = Path::new(&run.folder).components();
    way.all(|part| matches!(part, Component::Normal(_)))
}
