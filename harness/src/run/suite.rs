//! Runs a whole plan: its folder, its runs, and the record of a suite.

use std::path::{Path, PathBuf};
use std::time::Instant;

use lockstorm_reports::{NotRun, Outcome, RESULTS_VERSION, Record, RunRecord, SuiteRecord};

use super::cells::{Fates, Pace, run_cells, summary, titled};
use super::runner::{RunError, RunSettings};
use super::tries;
use crate::clock::wall_clock;
use crate::environment_error::EnvironmentError;
use crate::folder;
use crate::plan::RunPlan;

/// Result of a plan.
pub enum Finished {
    /// One run.
    Run(Box<RunRecord>),
    /// A comparison or a repetition; with the error that ended it early, if one did.
    Suite(Box<SuiteRecord>, Option<RunError>),
}

impl Finished {
    /// The record, as it is stored.
    pub fn record(&self) -> Record {
        match self {
            Self::Run(record) => Record::Run(record.clone()),
            Self::Suite(suite, _) => Record::Suite(suite.clone()),
        }
    }

    /// The worst outcome.
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::Run(record) => record.outcome,
            Self::Suite(suite, _) => suite.outcome(),
        }
    }
}

/// Makes the folder of the plan.
///
/// # Errors
/// When it cannot be made.
pub fn prepare(plan: &RunPlan) -> Result<PathBuf, EnvironmentError> {
    folder::create(&plan.out, &plan.name, wall_clock(), plan.seed)
}

/// Runs the plan in `folder`.
///
/// # Errors
/// When the only run gave no record, or that of the suite cannot be stored.
pub async fn execute(
    plan: &RunPlan,
    folder: &Path,
    settings: &RunSettings,
    pace: Pace,
) -> Result<Finished, RunError> {
    if !plan.suite {
        let job = &plan.jobs[0];
        let settings = titled(job, settings);
        let record = tries::run(job, folder, &settings, pace.retries).await?;
        settings.progress.stored(&record, folder);
        settings.progress.end(&summary(&record));
        return Ok(Finished::Run(Box::new(record)));
    }
    let started = wall_clock().to_string();
    let begun = Instant::now();
    let Fates {
        runs,
        unreached,
        failure,
    } = run_cells(plan, folder, settings, pace).await;
    let left_out = plan.left_out.iter().map(|(labels, reason)| NotRun {
        labels: labels.clone(),
        reason: reason.clone(),
    });
    let suite = SuiteRecord {
        version: RESULTS_VERSION,
        name: plan.name.clone(),
        description: plan.description.clone(),
        seed: plan.seed.0,
        started,
        duration_s: begun.elapsed().as_secs_f64(),
        runs,
        not_run: left_out.chain(unreached).collect(),
        rerun: plan.rerun.clone(),
        changed: None,
        hunts: Vec::new(),
    };
    lockstorm_reports::write_suite(folder, &suite)?;
    Ok(Finished::Suite(Box::new(suite), failure))
}
