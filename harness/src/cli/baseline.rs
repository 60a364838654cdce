//! `--baseline`: what a report is compared with.

use std::path::{Component, Path, PathBuf};

use lockstorm_reports::{
    ChangeState, Changes, NotRun, Outcome, Rate, Record, RenderError, RunRecord, SuiteRecord,
    SuiteRun, read_baseline, read_record, write_run, write_suite,
};

use lockstorm_scenarios::CaseLabels;

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

    /// The worst outcome of what is not in it: of a run that was as expected there, or is new, or
    /// has findings that are. A run that was not reached has shown nothing, whatever was before. A
    /// number of runs that is not as expected is new unless it was no better before.
    pub fn new_outcome(&self, finished: &Finished) -> Outcome {
        let record = finished.record();
        let before = self.0.iter().flat_map(runs);
        let before: Vec<_> = before.map(|run| (cell(run), run.outcome)).collect();
        let is_old = |run: &&RunRecord| {
            let mut alike = before.iter().filter(|(known, _)| *known == cell(run));
            let changes = run.changed.iter().flat_map(|changes| &changes.findings);
            alike.any(|(_, outcome)| *outcome >= run.outcome)
                && !changes
                    .into_iter()
                    .any(|change| change.state == ChangeState::New)
        };
        let new = runs(&record).into_iter().filter(|run| !is_old(run));
        let missing = has_unreached(&record).then_some(Outcome::Unknown);
        let counts = rates(&record);
        let known = self.0.iter().flat_map(rates).collect::<Vec<_>>();
        let is_known = |rate: &&Rate<'_>| {
            let cell = |rate: &Rate<'_>| (rate.scenario.to_owned(), rate.labels.clone());
            let mut alike = known
                .iter()
                .filter(|old| cell(old) == cell(rate) && old.property == rate.property);
            alike.any(|old| old.outcome() >= rate.outcome())
        };
        let counts = counts.iter().filter(|rate| !is_known(rate));
        new.map(|run| run.outcome)
            .chain(counts.map(Rate::outcome))
            .chain(missing)
            .max()
            .unwrap_or_default()
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

/// Runs of a record.
fn runs(record: &Record) -> Vec<&RunRecord> {
    match record {
        Record::Run(run) => vec![run],
        Record::Suite(suite) => suite.runs.iter().map(|run| &run.record).collect(),
    }
}

/// Expectations of a record that count runs.
fn rates(record: &Record) -> Vec<Rate<'_>> {
    match record {
        Record::Run(_) => Vec::new(),
        Record::Suite(suite) => suite.rates(),
    }
}

/// Tells whether a suite ended before all its runs had begun.
fn has_unreached(record: &Record) -> bool {
    match record {
        Record::Run(_) => false,
        Record::Suite(suite) => {
            suite.runs.is_empty() || suite.not_run.iter().any(NotRun::was_not_reached)
        }
    }
}

/// Scenario and place of a run in a comparison.
const fn cell(run: &RunRecord) -> (&String, &CaseLabels) {
    (&run.scenario, &run.labels)
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
    // A comparison of runs that lie elsewhere leaves them as they are.
    let lies_inside = |run: &&mut SuiteRun| {
        let mut way = Path::new(&run.folder).components();
        way.all(|part| matches!(part, Component::Normal(_)))
    };
    for run in suite.runs.iter_mut().filter(lies_inside) {
        run.record.changed = Some(Changes::of_cell(&run.record, baseline));
        write_run(&folder.join(&run.folder), &run.record)?;
    }
    write_suite(folder, suite)
}
