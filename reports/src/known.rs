//! Failures that an earlier run or suite has too.
//!
//! For: `--fail-on new`, where only others count. Not for: telling what changed, see [`Changes`].
//!
//! [`Changes`]: crate::Changes

use lockstorm_checker::Property;
use lockstorm_scenarios::CaseLabels;

use crate::encode::Record;
use crate::model::{ChangeState, NotRun, Outcome, Rate, RunRecord, SuiteRecord};

/// The outcomes of a baseline.
#[derive(Debug)]
pub struct Known {
    runs: Vec<(Cell, Outcome)>,
    rates: Vec<(Cell, Property, Outcome)>,
}

/// Scenario and place of a run in a comparison.
type Cell = (String, CaseLabels);

impl Known {
    /// The outcomes of the runs of `baseline`, and of what it expects of several runs together.
    pub fn of(baseline: &Record) -> Self {
        let runs = runs(baseline).into_iter();
        let rates = rates(baseline);
        let rate = |rate: &Rate| (cell_of(rate), rate.property, rate.outcome());
        Self {
            runs: runs.map(|run| (cell(run), run.outcome)).collect(),
            rates: rates.iter().map(rate).collect(),
        }
    }

    /// Tells whether a run failed, was no better in the baseline, and has no finding that is new.
    pub(crate) fn has_run(&self, run: &RunRecord) -> bool {
        let here = cell(run);
        let mut alike = self.runs.iter().filter(|(known, _)| *known == here);
        let changes = run.changed.iter().flat_map(|changes| &changes.findings);
        let is_new = |state: ChangeState| state == ChangeState::New;
        run.outcome != Outcome::AsExpected
            && alike.any(|(_, outcome)| *outcome >= run.outcome)
            && !changes.into_iter().any(|change| is_new(change.state))
    }

    /// Tells whether a number of violated runs was no better in the baseline.
    pub(crate) fn has_rate(&self, rate: &Rate) -> bool {
        let here = cell_of(rate);
        self.rates.iter().any(|(known, property, outcome)| {
            *known == here && *property == rate.property && *outcome >= rate.outcome()
        })
    }

    /// The worst outcome of what the baseline does not have. A run that was not reached has shown
    /// nothing, whatever was before.
    pub fn outcome_of_new(&self, record: &Record) -> Outcome {
        match record {
            Record::Run(run) => self.new_in_run(run),
            Record::Suite(suite) => self.new_in_suite(suite),
        }
    }

    /// The outcome of a run, or the best one where the baseline has it.
    pub(crate) fn new_in_run(&self, run: &RunRecord) -> Outcome {
        if self.has_run(run) {
            Outcome::default()
        } else {
            run.outcome
        }
    }

    /// The worst outcome of a suite that the baseline does not have.
    pub(crate) fn new_in_suite(&self, suite: &SuiteRecord) -> Outcome {
        let runs = suite.runs.iter().map(|run| self.new_in_run(&run.record));
        let rates = suite.rates();
        let rates = rates.iter().filter(|rate| !self.has_rate(rate));
        let is_cut = suite.runs.is_empty() || suite.not_run.iter().any(NotRun::was_not_reached);
        let unreached = is_cut.then_some(Outcome::Unknown);
        let all = runs.chain(rates.map(Rate::outcome)).chain(unreached);
        all.max().unwrap_or_default()
    }
}

fn cell(run: &RunRecord) -> Cell {
    (run.scenario.clone(), run.labels.clone())
}

fn cell_of(rate: &Rate) -> Cell {
    (rate.scenario.to_owned(), rate.labels.clone())
}

fn runs(record: &Record) -> Vec<&RunRecord> {
    match record {
        Record::Run(run) => vec![run],
        Record::Suite(suite) => suite.runs.iter().map(|run| &run.record).collect(),
    }
}

/// Expectations that count runs.
fn rates(record: &Record) -> Vec<Rate<'_>> {
    match record {
        Record::Run(_) => Vec::new(),
        Record::Suite(suite) => suite.rates(),
    }
}
