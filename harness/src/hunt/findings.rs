//! Findings of a hunt: plans that break a promise each time, shrunk and kept as scripts.
//!
//! A trial tells of one run. On a busy machine much breaks by chance, so a plan is tried again
//! before time is spent on it, and one that does it each time is preferred to a plainer one that
//! does not.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use lockstorm_reports::{Found, RunRecord, terminal_story};
use lockstorm_scenarios::{Case, CaseLabels, Promise};

use super::plan::Plan;
use super::search::{Catch, Limits, Quarry};
use super::shrink::{Aim, RUNS, Shrinker, Shrunk};
use super::trial::{Trial, case_of};
use crate::environment_error::EnvironmentError;
use crate::plan::{Job, short_slug};
use crate::run::{RunError, RunSettings, run};

/// Findings that are told for one promise, those with the fewest faults.
const FOUND_MAX: usize = 2;
/// Plans that are tried again for one promise.
const CANDIDATES_MAX: usize = 24;
/// Time at least in which a plan is looked for that breaks a promise each time.
const LOOKS_FOR: Duration = Duration::from_secs(60);
/// Time for looking for a shorter script of one plan.
const SHORTENED_WITHIN: Duration = Duration::from_secs(30);
/// Runs at most to have one whose story tells how the promise is broken.
const RUNS_FOR_STORY: usize = 4;

/// Puts what a hunt has caught into `found`, shrunk and confirmed: of each promise the plans that
/// break it each time, with the fewest and plainest faults, or those that do so most often.
///
/// # Errors
/// When one cannot be run again; it and those behind it are missing.
pub(super) async fn gather(
    quarry: &Quarry,
    limits: Limits,
    caught: &Catch,
    ((hunt, folder), settings): ((&Path, &Path), &RunSettings),
    found: &mut Vec<Found>,
) -> Result<(), RunError> {
    let trials = folder.join("trials");
    let mut gathering = Gathering {
        quarry,
        limits,
        trials: &trials,
        places: (hunt, folder),
        settings,
        begun: Instant::now(),
        scripts: BTreeSet::new(),
        found,
    };
    let candidates = candidates(caught);
    let mut doubtful = Vec::new();
    for (n, &(promise, trial)) in (1..).zip(&candidates) {
        if !gathering.wants(promise) {
            continue;
        }
        settings.progress.say(&format!(
            "plan {n} of {} again: {} broken by {}",
            candidates.len(),
            promise.name(),
            trial.plan
        ));
        let times = gathering.again(promise, &trial.plan).await?;
        if times == RUNS {
            gathering.shrink(promise, &trial.plan).await?;
        } else {
            doubtful.push((Reverse(times), promise, trial));
        }
    }
    doubtful.sort_by_key(|(times, ..)| *times);
    for (_, promise, trial) in doubtful {
        if gathering.wants_doubtful(promise) {
            gathering.shrink(promise, &trial.plan).await?;
        }
    }
    Ok(())
}

/// The trials that are worth to be tried again: of each promise those with the fewest and plainest
/// faults, and of each family of plans one; the first of every promise before the second of any. A
/// plan that is broken by part of its faults is nothing new.
fn candidates(caught: &Catch) -> Vec<(Promise, &Trial)> {
    let mut families: BTreeMap<Promise, Vec<BTreeSet<String>>> = BTreeMap::new();
    let mut chosen = Vec::new();
    let mut trials: Vec<&Trial> = caught.sizes.iter().flat_map(|size| &size.trials).collect();
    trials.sort_by_key(|trial| trial.plan.plainness());
    for trial in trials {
        for (promise, _) in trial.broken() {
            let family: BTreeSet<String> = trial.plan.family().into_iter().collect();
            let known = families.entry(promise).or_default();
            let is_new = !known.iter().any(|one| one.is_subset(&family));
            if is_new && known.len() < CANDIDATES_MAX {
                known.push(family);
                chosen.push((known.len(), promise, trial));
            }
        }
    }
    chosen.sort_by_key(|(rank, ..)| *rank);
    let chosen = chosen.into_iter();
    chosen.map(|(_, promise, trial)| (promise, trial)).collect()
}

/// Gathers the findings for one lock.
struct Gathering<'a> {
    quarry: &'a Quarry,
    limits: Limits,
    /// Folder for the runs.
    trials: &'a Path,
    /// Folder of the hunt, and that of this lock in it.
    places: (&'a Path, &'a Path),
    settings: &'a RunSettings,
    begun: Instant,
    /// Scripts that were found, as some plans come down to the same.
    scripts: BTreeSet<(Promise, String)>,
    found: &'a mut Vec<Found>,
}

impl Gathering<'_> {
    fn shrinker(&self, promise: Promise) -> Shrinker<'_> {
        Shrinker {
            aim: Aim::Promise(promise),
            settings: self.settings,
            folder: self.trials,
            at_once: self.limits.at_once,
            within: SHORTENED_WITHIN,
            runs: RUNS,
            seed: self.limits.seed,
        }
    }

    /// Number of findings of a promise, and of those that are confirmed.
    fn count(&self, promise: Promise) -> (usize, usize) {
        let mut all = self.found.iter().filter(|found| found.promise == promise);
        let confirmed = all.clone().filter(|found| found.is_confirmed()).count();
        (all.by_ref().count(), confirmed)
    }

    fn is_interrupted(&self) -> bool {
        self.settings.interrupt.is_cancelled()
    }

    /// Tells whether to look for more that breaks a promise each time.
    fn wants(&self, promise: Promise) -> bool {
        let (_, confirmed) = self.count(promise);
        let time = match confirmed {
            0 => self.limits.time.max(LOOKS_FOR),
            _ => self.limits.time,
        };
        confirmed < FOUND_MAX && self.begun.elapsed() <= time && !self.is_interrupted()
    }

    /// Tells whether to keep what does not break a promise each time.
    fn wants_doubtful(&self, promise: Promise) -> bool {
        let (all, confirmed) = self.count(promise);
        confirmed == 0 && all < FOUND_MAX && !self.is_interrupted()
    }

    /// Runs a plan again, several times: how often it breaks the promise.
    async fn again(&self, promise: Promise, plan: &Plan) -> Result<usize, RunError> {
        let Some(Ok(case)) = case_of(plan, &self.quarry.lock, &self.quarry.terms) else {
            return Ok(0);
        };
        self.shrinker(promise)
            .breaks(&case.to_scenario(), RUNS)
            .await
    }

    async fn shrink(&mut self, promise: Promise, plan: &Plan) -> Result<(), RunError> {
        let shrinker = self.shrinker(promise);
        let plan = shrinker.plainest(plan, self.quarry).await?;
        let Some(Ok(case)) = case_of(&plan, &self.quarry.lock, &self.quarry.terms) else {
            return Ok(());
        };
        let Some(shrunk) = shrinker.shorten(case.to_scenario()).await? else {
            return Ok(());
        };
        let script = format!("{:?}", shrunk.case.workload);
        if self.scripts.insert((promise, script)) {
            let is_promised = self.quarry.promises().contains(&promise);
            let broken = (promise, is_promised, &plan);
            let kept = keep(broken, shrunk, self.places, self.settings);
            let found = Box::pin(kept).await?;
            self.found.push(found);
        }
        Ok(())
    }
}

/// Writes the script down, and runs it again until there is a run that breaks the promise, for its
/// story. These runs count like those before.
async fn keep(
    (promise, is_promised, plan): (Promise, bool, &Plan),
    mut shrunk: Shrunk,
    (hunt, folder): (&Path, &Path),
    settings: &RunSettings,
) -> Result<Found, RunError> {
    let name = short_slug(&format!("{} {}", promise.name(), plan.family().join(" ")));
    let run_folder = folder.join("found").join(&name);
    let case = named(shrunk.case.clone(), promise, &name, plan);
    let (tries, record) = until(
        || run_for_story(&case, &run_folder, settings),
        |record| Aim::Promise(promise).is_met_by(record),
        || settings.interrupt.is_cancelled(),
    )
    .await?;
    shrunk.times += usize::from(record.is_some());
    let runs = RUNS + tries;
    let script = run_folder.join(crate::folder::SCENARIO);
    let file = folder.join("found").join(format!("{name}.toml"));
    fs::copy(&script, &file).map_err(EnvironmentError::io("write", file.display().to_string()))?;
    let record = record.as_ref();
    let story = record.and_then(|record| terminal_story(record, promise));
    let claim = record.and_then(|record| claim_of(record, promise));
    let below = |path: &Path| {
        let path = path.strip_prefix(hunt).unwrap_or(path);
        path.display().to_string()
    };
    Ok(Found {
        promise,
        is_promised,
        faults: plan.placements.len(),
        plan: plan.to_string(),
        claim: claim.unwrap_or_default(),
        steps: shrunk.steps,
        times: shrunk.times,
        runs,
        file: below(&file),
        run: below(&run_folder),
        story: story.unwrap_or_default(),
    })
}

/// Runs until a run is what it should be, [`RUNS_FOR_STORY`] times at most: the number of runs, and
/// that one.
async fn until<R, F: Future<Output = Result<R, RunError>>>(
    run: impl Fn() -> F,
    is_met_by: impl Fn(&R) -> bool,
    is_interrupted: impl Fn() -> bool,
) -> Result<(usize, Option<R>), RunError> {
    for runs in 1..=RUNS_FOR_STORY {
        let record = run().await?;
        if is_met_by(&record) {
            return Ok((runs, Some(record)));
        }
        if is_interrupted() {
            return Ok((runs, None));
        }
    }
    Ok((RUNS_FOR_STORY, None))
}

/// Runs a case that is kept, in the place of what was run there before: a hunt that goes on may
/// have been here already.
async fn run_for_story(
    case: &Case,
    folder: &Path,
    settings: &RunSettings,
) -> Result<RunRecord, RunError> {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder)
        .map_err(EnvironmentError::io("create", folder.display().to_string()))?;
    let job = Job {
        case: case.clone(),
        repetition: 0,
        seed: crate::seed::Seed(0),
        slug: String::new(),
        rerun: None,
    };
    Box::pin(run(&job, folder, settings)).await
}

/// The case as it is kept: it says what it is about.
fn named(case: Case, promise: Promise, name: &str, plan: &Plan) -> Case {
    Case {
        name: name.to_owned(),
        description: format!(
            "A hunt has found that {} is broken: {plan}.",
            promise.name()
        ),
        labels: CaseLabels {
            hazard: plan.to_string(),
            ..case.labels
        },
        ..case
    }
}

fn claim_of(record: &RunRecord, promise: Promise) -> Option<String> {
    let mut outcomes = record.outcomes().into_iter();
    let outcome = outcomes.find(|outcome| outcome.promise == promise);
    outcome.and_then(|outcome| outcome.reason)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Runs that break a promise or not, one after the other.
    async fn tried(breaks: &[bool], interrupted: bool) -> (usize, Option<bool>) {
        let next = Cell::new(breaks.iter());
        let run = || {
            let mut runs = next.take();
            let breaks = runs.next().copied().expect("no run more is asked for");
            next.set(runs);
            std::future::ready(Ok(breaks))
        };
        let found = until(run, |breaks| *breaks, || interrupted).await;
        found.expect("no run fails")
    }

    #[tokio::test]
    async fn a_finding_is_run_again_until_it_breaks_and_each_run_counts() {
        assert_eq!(tried(&[true], false).await, (1, Some(true)));
        assert_eq!(tried(&[false, false, true], false).await, (3, Some(true)));
        assert_eq!(
            tried(&[false; RUNS_FOR_STORY], false).await,
            (RUNS_FOR_STORY, None)
        );
        assert_eq!(tried(&[false], true).await, (1, None), "Ctrl-C");
    }
}
