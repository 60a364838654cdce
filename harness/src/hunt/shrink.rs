//! Shrinking: from a plan that broke a promise to the shortest script that does so every time.

use std::path::Path;
use std::time::{Duration, Instant};

use lockstorm_reports::{Answer, RunRecord};
use lockstorm_scenarios::{Case, Promise, Scenario};
use tokio::task::JoinSet;

use super::fault::Fault;
use super::plan::Plan;
use super::script::scenario;
use super::search::Quarry;
use super::trial::{place, try_case};
use crate::run::{RunError, RunSettings};
use crate::seed::Seed;

/// Runs in which a shorter script has to break the promise to be taken.
const TAKEN_AFTER: usize = 2;
/// Runs of what is left in the end.
pub const RUNS: usize = 5;
/// Time for looking for shorter scripts.
const WITHIN: Duration = Duration::from_secs(90);
/// Lengths of the parts of a script that are left out together, longest first: a fault at a point
/// is three or four steps.
const PARTS: [usize; 4] = [4, 3, 2, 1];

/// A script that breaks a promise.
pub struct Shrunk {
    /// The case, ready to be run.
    pub case: Case,
    /// The plan that is left.
    pub plan: Plan,
    /// Steps of the script.
    pub steps: usize,
    /// How often it broke the promise again, out of [`RUNS`].
    pub times: usize,
}

/// Shortens scripts that break one promise.
pub struct Shrinker<'a> {
    /// The lock.
    pub quarry: &'a Quarry,
    /// The promise.
    pub promise: Promise,
    /// Settings of the runs.
    pub settings: &'a RunSettings,
    /// Folder for the runs.
    pub folder: &'a Path,
    /// Runs at once.
    pub at_once: usize,
    /// Chance of the runs.
    pub seed: Seed,
}

impl Shrinker<'_> {
    /// Shortens the script of a plan, and runs what is left several times on fresh servers. `None`
    /// if it was interrupted.
    ///
    /// # Errors
    /// When no servers can be had.
    pub async fn shrink(&self, plan: &Plan) -> Result<Option<Shrunk>, RunError> {
        let until = Instant::now() + WITHIN;
        let plan = self.with_fewer_faults(plan).await?;
        let plan = self.with_plainer_faults(plan).await?;
        let Some(mut shortest) = scenario(&plan, &self.quarry.terms) else {
            return Ok(None);
        };
        for length in PARTS {
            let mut end = shortest.step.len();
            while end >= length && Instant::now() < until && !self.is_interrupted() {
                let mut shorter = shortest.clone();
                shorter.step.drain(end - length..end);
                if self.breaks(&shorter, TAKEN_AFTER).await? == TAKEN_AFTER {
                    shortest = shorter;
                }
                end = (end - 1).min(shortest.step.len());
            }
        }
        let times = self.breaks(&shortest, RUNS).await?;
        let Ok(case) = place(&shortest, &self.quarry.lock, &self.quarry.terms) else {
            return Ok(None);
        };
        let shrunk = Shrunk {
            case,
            plan,
            steps: shortest.step.len(),
            times,
        };
        Ok((!self.is_interrupted()).then_some(shrunk))
    }

    /// Leaves out the faults that are not needed.
    async fn with_fewer_faults(&self, plan: &Plan) -> Result<Plan, RunError> {
        let mut fewest = plan.clone();
        for placement in &plan.placements {
            let mut fewer = fewest.clone();
            fewer.placements.retain(|one| one != placement);
            if fewer.placements.is_empty() {
                break;
            }
            let Some(script) = scenario(&fewer, &self.quarry.terms) else {
                continue;
            };
            if self.breaks(&script, TAKEN_AFTER).await? == TAKEN_AFTER {
                fewest = fewer;
            }
        }
        Ok(fewest)
    }

    /// Puts another client's request in the place of what happens to a client or a server while a
    /// message is held, where that is enough.
    async fn with_plainer_faults(&self, plan: Plan) -> Result<Plan, RunError> {
        let mut plainest = plan;
        for n in 0..plainest.placements.len() {
            let fault = plainest.placements[n].fault;
            if !fault.is_held() || !fault.lets_another_ask() || fault == Fault::Interleave {
                continue;
            }
            let mut plainer = plainest.clone();
            plainer.placements[n].fault = Fault::Interleave;
            let Some(script) = scenario(&plainer, &self.quarry.terms) else {
                continue;
            };
            if self.breaks(&script, TAKEN_AFTER).await? == TAKEN_AFTER {
                plainest = plainer;
            }
        }
        Ok(plainest)
    }

    /// In how many of so many runs a script breaks the promise; none if it makes no sense.
    async fn breaks(&self, script: &Scenario, runs: usize) -> Result<usize, RunError> {
        let Ok(case) = place(script, &self.quarry.lock, &self.quarry.terms) else {
            return Ok(0);
        };
        let mut going = JoinSet::new();
        let mut times = 0;
        for n in 0..runs {
            if going.len() >= self.at_once {
                times += usize::from(self.next(&mut going).await?);
            }
            let (case, settings) = (case.clone(), self.settings.clone());
            let folder = self.folder.join(format!("shrink-{n}"));
            let seed = self.seed.child(&format!("{n}"));
            going.spawn(async move { try_case(case, seed, &folder, &settings).await });
        }
        while !going.is_empty() {
            times += usize::from(self.next(&mut going).await?);
        }
        Ok(times)
    }

    async fn next(
        &self,
        going: &mut JoinSet<Result<RunRecord, RunError>>,
    ) -> Result<bool, RunError> {
        let joined = going.join_next().await;
        let ended = joined.map(|ended| ended.expect("a run does not panic"));
        let record = match ended {
            Some(Ok(record)) => record,
            // One that had no servers says nothing.
            Some(Err(error)) if error.is_of_one_run() => return Ok(false),
            Some(Err(error)) => return Err(error),
            None => return Ok(false),
        };
        Ok(breaks(&record, self.promise))
    }

    fn is_interrupted(&self) -> bool {
        self.settings.interrupt.is_cancelled()
    }
}

/// Tells whether a run broke the promise.
pub fn breaks(record: &RunRecord, promise: Promise) -> bool {
    let outcomes = record.outcomes();
    let mut broken = outcomes.iter().filter(|one| one.seen == Answer::Broken);
    broken.any(|outcome| outcome.promise == promise)
}
