//! Runs a whole plan: its folder, its runs one after the other, and the record of a suite.

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use lockstorm_reports::{NotRun, Outcome, RESULTS_VERSION, RunRecord, SuiteRecord, SuiteRun};
use lockstorm_scenarios::CaseLabels;

use crate::clock::wall_clock;
use crate::folder;
use crate::plan::{Job, RunPlan};
use crate::runner::{self, RunError, RunSettings};
use crate::server::EnvironmentError;

/// What a plan came to.
pub enum Finished {
    /// One run.
    Run(Box<RunRecord>),
    /// A comparison or a repetition; with the error that ended it early, if one did.
    Suite(Box<SuiteRecord>, Option<RunError>),
}

impl Finished {
    /// The worst outcome.
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::Run(record) => record.outcome,
            // A suite that ran nothing has shown nothing.
            Self::Suite(suite, _) if suite.runs.is_empty() => Outcome::Unknown,
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

/// Runs the plan in `folder`. With `fail_fast` it ends after the first run that is not as
/// expected.
///
/// # Errors
/// When the only run gave no record, or that of the suite cannot be stored.
pub async fn run(
    plan: &RunPlan,
    folder: &std::path::Path,
    settings: &RunSettings,
    fail_fast: bool,
) -> Result<Finished, RunError> {
    if !plan.suite {
        let job = &plan.jobs[0];
        settings.progress.begin(&title(job));
        let record = runner::run(job, folder, settings).await?;
        settings.progress.end(&summary(job, &record));
        return Ok(Finished::Run(Box::new(record)));
    }
    let started = wall_clock().to_string();
    let begun = Instant::now();
    let mut runs: Vec<SuiteRun> = Vec::new();
    let mut failure = None;
    let mut not_run: Vec<NotRun> = plan
        .left_out
        .iter()
        .map(|(labels, reason)| NotRun {
            labels: labels.clone(),
            reason: reason.clone(),
        })
        .collect();
    for job in &plan.jobs {
        let failed = runs
            .last()
            .is_some_and(|run| run.record.outcome != Outcome::AsExpected);
        if settings.interrupt.is_cancelled() {
            not_run.push(unreached(&job.case.labels, "interrupted"));
            continue;
        }
        if fail_fast && failed {
            not_run.push(unreached(
                &job.case.labels,
                "an earlier run was not as expected",
            ));
            continue;
        }
        if failure.is_some() {
            not_run.push(unreached(
                &job.case.labels,
                "an earlier run could not be set up",
            ));
            continue;
        }
        match run_cell(job, folder, settings).await {
            Ok(run) => runs.push(run),
            Err(error) => {
                not_run.push(unreached(&job.case.labels, &error.to_string()));
                failure = Some(error);
            }
        }
    }
    let suite = SuiteRecord {
        version: RESULTS_VERSION,
        name: plan.name.clone(),
        description: plan.description.clone(),
        seed: plan.seed.0,
        started,
        duration_s: begun.elapsed().as_secs_f64(),
        runs,
        not_run,
        rerun: plan.rerun.clone(),
    };
    lockstorm_reports::write_suite(folder, &suite)?;
    Ok(Finished::Suite(Box::new(suite), failure))
}

async fn run_cell(
    job: &Job,
    suite: &std::path::Path,
    settings: &RunSettings,
) -> Result<SuiteRun, RunError> {
    settings.progress.begin(&title(job));
    let name = format!("cells/{}", job.slug);
    let folder = suite.join(&name);
    fs::create_dir_all(&folder)
        .map_err(EnvironmentError::io("create", folder.display().to_string()))?;
    let record = runner::run(job, &folder, settings).await?;
    settings.progress.end(&summary(job, &record));
    Ok(SuiteRun {
        folder: name,
        record,
    })
}

fn unreached(labels: &CaseLabels, reason: &str) -> NotRun {
    NotRun {
        labels: labels.clone(),
        reason: format!("{}: {reason}", NotRun::NOT_REACHED),
    }
}

fn title(job: &Job) -> String {
    let labels = &job.case.labels;
    format!("{} · {} · {}", labels.lock, labels.topology, labels.hazard)
}

fn summary(job: &Job, record: &RunRecord) -> String {
    let met = match record.outcome {
        Outcome::AsExpected => "as expected",
        Outcome::LivenessFailed => "LIVENESS FAILED",
        Outcome::Unknown => "UNKNOWN",
        Outcome::Unexpected => "NOT AS EXPECTED",
    };
    let verdict = lockstorm_reports::verdict_word(record.analysis.verdict);
    format!(
        "{}: {verdict}, {met} ({:.1} s)",
        title(job),
        record.duration_s
    )
}
