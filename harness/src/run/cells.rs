//! Runs the runs of a suite: one after the other, or several at once.

use std::fs;
use std::panic;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lockstorm_reports::{Head, NotRun, Outcome, RunRecord, SuiteRun};
use lockstorm_scenarios::CaseLabels;
use tokio::task::{JoinError, JoinSet};

use super::runner::{RunError, RunSettings};
use super::tries;
use crate::environment_error::EnvironmentError;
use crate::folder::CELLS;
use crate::plan::{Job, RunPlan};
use crate::progress::{Progress as _, Titled};

/// Runs in a row without servers after which a suite gives up. One that a busy machine kept from
/// its servers says nothing of the next; so many say that there are none to be had.
const WITHOUT_SERVERS_MAX: usize = 6;

/// Way in which a suite is run.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Number of runs that may go on at once; at least one does.
    pub at_once: usize,
    /// `true` if none begins after one that was not as expected.
    pub fail_fast: bool,
    /// Number of times that a run is tried again which was not as expected and proved nothing.
    pub retries: u32,
}

/// Outcomes of the runs, in the order of the plan.
#[derive(Debug, Default)]
pub struct Fates {
    /// Those that ended.
    pub runs: Vec<SuiteRun>,
    /// Those that did not begin, or came to nothing.
    pub unreached: Vec<NotRun>,
    /// The first error that kept one from its end.
    pub failure: Option<RunError>,
}

/// Errors that kept runs from their end, and whether the others can still reach theirs.
#[derive(Default)]
struct Failures {
    first: Option<RunError>,
    /// Runs without servers since the last one that had them.
    in_a_row: usize,
}

impl Failures {
    /// Takes an error, and says why no other run should begin, if none should.
    fn take(&mut self, error: RunError) -> Option<&'static str> {
        self.in_a_row += 1;
        let halt = if !error.is_of_one_run() {
            Some("an earlier run could not be set up")
        } else if self.in_a_row >= WITHOUT_SERVERS_MAX {
            Some("too many runs in a row had no servers")
        } else {
            None
        };
        self.first.get_or_insert(error);
        halt
    }
}

/// Runs all of the plan, each run in a folder of its own below `suite`.
pub async fn run_cells(plan: &RunPlan, suite: &Path, settings: &RunSettings, pace: Pace) -> Fates {
    let mut ended: Vec<Option<Result<SuiteRun, String>>> = Vec::new();
    ended.resize_with(plan.jobs.len(), || None);
    let mut waiting = plan.jobs.iter().enumerate();
    let mut going = JoinSet::new();
    let mut failures = Failures::default();
    let mut halt = None;
    loop {
        if settings.interrupt.is_cancelled() {
            halt.get_or_insert("interrupted");
        }
        while halt.is_none() && going.len() < pace.at_once.max(1) {
            let Some((n, job)) = waiting.next() else {
                break;
            };
            let (job, suite, settings) = (job.clone(), suite.to_owned(), settings.clone());
            let retries = pace.retries;
            going.spawn(async move { (n, run_cell(&job, suite, &settings, retries).await) });
        }
        let Some(joined) = going.join_next().await else {
            break;
        };
        let (n, fate) = joined.unwrap_or_else(|error| panic::resume_unwind(reason(error)));
        ended[n] = Some(match fate {
            Ok(run) => {
                failures.in_a_row = 0;
                if pace.fail_fast && run.record.outcome != Outcome::AsExpected {
                    halt.get_or_insert("an earlier run was not as expected");
                }
                Ok(run)
            }
            Err(error) => {
                let text = error.to_string();
                let fast = pace.fail_fast.then_some("an earlier run came to nothing");
                halt = halt.or(failures.take(error)).or(fast);
                Err(text)
            }
        });
    }
    let mut fates = Fates {
        failure: failures.first,
        ..Fates::default()
    };
    for (job, end) in plan.jobs.iter().zip(ended) {
        let why = match end {
            Some(Ok(run)) => {
                fates.runs.push(run);
                continue;
            }
            Some(Err(error)) => error,
            None => halt.unwrap_or_default().to_owned(),
        };
        fates.unreached.push(unreached(&job.case.labels, &why));
    }
    fates
}

/// Reason why a run has no fate: nobody cancels one, so it has panicked.
fn reason(error: JoinError) -> Box<dyn std::any::Any + Send> {
    error.into_panic()
}

async fn run_cell(
    job: &Job,
    suite: PathBuf,
    settings: &RunSettings,
    retries: u32,
) -> Result<SuiteRun, RunError> {
    let settings = titled(job, settings);
    let name = format!("{CELLS}/{}", job.slug);
    let folder = suite.join(&name);
    fs::create_dir_all(&folder)
        .map_err(EnvironmentError::io("create", folder.display().to_string()))?;
    let record = tries::run(job, &folder, &settings, retries).await?;
    settings.progress.stored(&record, &folder);
    settings.progress.end(&summary(&record));
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

/// The settings for one run, whose progress is told by its title.
pub(crate) fn titled(job: &Job, settings: &RunSettings) -> RunSettings {
    let progress = Titled {
        title: title(job),
        progress: Arc::clone(&settings.progress),
    };
    progress.begun(job);
    progress.say("begins");
    RunSettings {
        progress: Arc::new(progress),
        ..settings.clone()
    }
}

fn title(job: &Job) -> String {
    let labels = &job.case.labels;
    format!("{} · {} · {}", labels.lock, labels.topology, labels.hazard)
}

pub(crate) fn summary(record: &RunRecord) -> String {
    format!(
        "{} ({:.1} s)",
        Head::of_run(record).line(),
        record.duration_s
    )
}
