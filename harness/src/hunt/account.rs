//! Account of a hunt: the findings, shrunk and confirmed, and how much each promise endures.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::Instant;

use lockstorm_checker::Property;
use lockstorm_reports::{
    Cell, CellAnswer, Endurance, Found, Hunted, RunRecord, Size, TriedOf, terminal_story,
};
use lockstorm_scenarios::{Case, CaseLabels, Promise};

use super::plan::Plan;
use super::search::{Catch, Limits, Quarry};
use super::shrink::{Aim, RUNS, Shrinker, Shrunk};
use super::trial::{Told, Trial, case_of};
use crate::environment_error::EnvironmentError;
use crate::plan::{Job, short_slug};
use crate::run::{RunError, RunSettings, run};

/// Findings that are told for one promise, those with the fewest faults.
const FOUND_MAX: usize = 2;
/// Plans that are shrunk for one promise: some come down to the same script.
const SHRUNK_MAX: usize = 6;

/// Accounts for all that was tried. The findings go into `folder/found`; if one cannot be run
/// again, it and those behind it are missing, and the account says why.
pub async fn account(
    quarry: &Quarry,
    limits: Limits,
    caught: &Catch,
    places: (&Path, &Path),
    settings: &RunSettings,
) -> Hunted {
    let promised = quarry.promises();
    let mut found = Vec::new();
    let shrunk = shrink_all(quarry, limits, caught, (places, settings), &mut found).await;
    found.sort_by_key(|found: &Found| (!found.is_promised, found.faults, found.promise));
    let trials: Vec<&Trial> = caught.sizes.iter().flat_map(|size| &size.trials).collect();
    let ended_by = caught.ended_by.as_ref().map(ToString::to_string);
    Hunted {
        lock: quarry.lock.bare_label(),
        topology: quarry.terms.topology.label(),
        lease_ms: quarry.terms.lease_ms,
        trials_ms: caught.took.as_millis() as u64,
        courses: courses(&trials),
        points: caught
            .surveyed
            .surveys
            .values()
            .map(|one| one.points.len())
            .sum(),
        left_out: caught
            .surveyed
            .left_out
            .iter()
            .map(|(base, reason)| (base.words().to_owned(), reason.clone()))
            .collect(),
        sizes: sizes(caught),
        promises: endurances(caught, &found, &promised),
        columns: columns(caught),
        cells: cells(caught, &found, &promised),
        untold: untold(caught, &trials),
        found,
        ended_by: ended_by.or(shrunk.err().map(|error| error.to_string())),
    }
}

/// Shrinks what is worth it, and keeps it.
async fn shrink_all(
    quarry: &Quarry,
    limits: Limits,
    caught: &Catch,
    ((hunt, folder), settings): ((&Path, &Path), &RunSettings),
    found: &mut Vec<Found>,
) -> Result<(), RunError> {
    let promised = quarry.promises();
    let begun = Instant::now();
    let mut scripts = BTreeSet::new();
    let chosen = to_shrink(caught);
    for (n, &(promise, trial)) in (1..).zip(&chosen) {
        if settings.interrupt.is_cancelled() {
            break;
        }
        let shrinker = Shrinker {
            aim: Aim::Promise(promise),
            settings,
            folder: &folder.join("trials"),
            at_once: limits.at_once,
            seed: limits.seed,
        };
        let of_promise = |one: &&Found| one.promise == promise && one.is_confirmed();
        let told = found.iter().filter(of_promise).count();
        if told >= FOUND_MAX || told > 0 && begun.elapsed() > limits.time {
            continue;
        }
        settings.progress.say(&format!(
            "shortens plan {n} of {}: {} broken by {}",
            chosen.len(),
            promise.name(),
            trial.plan
        ));
        let plan = shrinker.plainest(&trial.plan, quarry).await?;
        let Some(Ok(case)) = case_of(&plan, &quarry.lock, &quarry.terms) else {
            continue;
        };
        let Some(shrunk) = shrinker.shorten(case.to_scenario()).await? else {
            continue;
        };
        let is_new = scripts.insert((promise, format!("{:?}", shrunk.case.workload)));
        if is_new {
            let is_promised = promised.contains(&promise);
            let broken = (promise, is_promised, &plan);
            found.push(keep(broken, shrunk, (hunt, folder), settings).await?);
        }
    }
    Ok(())
}

/// The trials that are worth to be shrunk: of each promise those with the fewest and plainest
/// faults, and of each family of plans one; the first of every promise before the second of any. A
/// plan that is broken by part of its faults is nothing new.
fn to_shrink(caught: &Catch) -> Vec<(Promise, &Trial)> {
    let mut families: BTreeMap<Promise, Vec<BTreeSet<String>>> = BTreeMap::new();
    let mut chosen = Vec::new();
    let mut trials: Vec<&Trial> = caught.sizes.iter().flat_map(|size| &size.trials).collect();
    trials.sort_by_key(|trial| trial.plan.plainness());
    for trial in trials {
        for (promise, _) in trial.broken() {
            let family: BTreeSet<String> = trial.plan.family().into_iter().collect();
            let known = families.entry(promise).or_default();
            let is_new = !known.iter().any(|one| one.is_subset(&family));
            if is_new && known.len() < SHRUNK_MAX {
                known.push(family);
                chosen.push((known.len(), promise, trial));
            }
        }
    }
    chosen.sort_by_key(|(rank, ..)| *rank);
    let chosen = chosen.into_iter();
    chosen.map(|(_, promise, trial)| (promise, trial)).collect()
}

/// Writes the script down, and runs it once more, for its story.
async fn keep(
    (promise, is_promised, plan): (Promise, bool, &Plan),
    shrunk: Shrunk,
    (hunt, folder): (&Path, &Path),
    settings: &RunSettings,
) -> Result<Found, RunError> {
    let name = short_slug(&format!("{} {}", promise.name(), plan.family().join(" ")));
    let run_folder = folder.join("found").join(&name);
    // A hunt that goes on may have been here before.
    let _ = fs::remove_dir_all(&run_folder);
    fs::create_dir_all(&run_folder).map_err(EnvironmentError::io(
        "create",
        run_folder.display().to_string(),
    ))?;
    let job = Job {
        case: named(shrunk.case.clone(), promise, &name, plan),
        repetition: 0,
        seed: crate::seed::Seed(0),
        slug: String::new(),
        rerun: None,
    };
    let record = run(&job, &run_folder, settings).await?;
    let script = run_folder.join(crate::folder::SCENARIO);
    let file = folder.join("found").join(format!("{name}.toml"));
    fs::copy(&script, &file).map_err(EnvironmentError::io("write", file.display().to_string()))?;
    let story =
        terminal_story(&record, promise).filter(|_| Aim::Promise(promise).is_met_by(&record));
    let below = |path: &Path| {
        let path = path.strip_prefix(hunt).unwrap_or(path);
        path.display().to_string()
    };
    Ok(Found {
        promise,
        is_promised,
        faults: plan.placements.len(),
        plan: plan.to_string(),
        claim: claim_of(&record, promise),
        steps: shrunk.steps,
        times: shrunk.times,
        runs: RUNS,
        file: below(&file),
        run: below(&run_folder),
        story: story.unwrap_or_default(),
    })
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

fn claim_of(record: &RunRecord, promise: Promise) -> String {
    let mut outcomes = record.outcomes().into_iter();
    let outcome = outcomes.find(|outcome| outcome.promise == promise);
    outcome
        .and_then(|outcome| outcome.reason)
        .unwrap_or_default()
}

/// Number of different courses of the trials.
fn courses(trials: &[&Trial]) -> usize {
    let courses: BTreeSet<&str> = trials.iter().map(|trial| trial.course.as_str()).collect();
    courses.len()
}

fn sizes(caught: &Catch) -> Vec<Size> {
    let sizes = caught.sizes.iter().map(|size| Size {
        faults: size.faults,
        all: u64::try_from(size.all).unwrap_or(u64::MAX),
        tried: size.trials.len() as u64,
        told: size.trials.iter().filter(|trial| trial.tells()).count() as u64,
        impossible: size.impossible,
    });
    sizes.collect()
}

/// Endurance of each promise, those first that the lock makes.
fn endurances(caught: &Catch, found: &[Found], promised: &[Promise]) -> Vec<Endurance> {
    let mut endurances = Vec::new();
    for promise in Promise::ALL {
        let tried: Vec<TriedOf> = caught
            .sizes
            .iter()
            .map(|size| {
                let told = size.trials.iter().filter_map(|one| one.told.get(&promise));
                let is_tested = |one: &&Told| !matches!(one, Told::Untested(_));
                let told: Vec<&Told> = told.filter(is_tested).collect();
                let can_tell = |one: &&&Told| !matches!(one, Told::Nothing(_));
                let is_broken = |one: &&&Told| matches!(one, Told::Broken(_));
                TriedOf {
                    faults: size.faults,
                    trials: told.len() as u64,
                    broken: told.iter().filter(is_broken).count() as u64,
                    told: told.iter().filter(can_tell).count() as u64,
                }
            })
            .collect();
        if tried.iter().all(|tried| tried.trials == 0) {
            continue;
        }
        let confirmed = found.iter().filter(|one| one.is_confirmed());
        let broken = confirmed.filter(|one| one.promise == promise);
        let inherent = inherent_of(caught, promise);
        endurances.push(Endurance {
            promise,
            is_promised: promised.contains(&promise),
            broken_with: broken.map(|one| one.faults).min(),
            inherent_with: inherent.map(|trial| trial.plan.placements.len()),
            inherent_by: inherent.map(|trial| trial.plan.to_string()),
            tried,
        });
    }
    endurances.sort_by_key(|one| !one.is_promised);
    endurances
}

/// The trial with the fewest faults in which two held the lock, and no lock of its kind could have
/// prevented it.
fn inherent_of(caught: &Catch, promise: Promise) -> Option<&Trial> {
    let is_of_holders = [Promise::Exclusive, Promise::Permits].contains(&promise);
    let overlaps = |trial: &&Trial| trial.inherent.contains_key(&Property::MutualExclusion);
    let trials = caught.sizes.iter().flat_map(|size| &size.trials);
    let plainest = trials
        .filter(overlaps)
        .min_by_key(|trial| trial.plan.plainness());
    plainest.filter(|_| is_of_holders)
}

/// The points, in the order in which the runs without a fault came through them.
fn columns(caught: &Catch) -> Vec<String> {
    let mut columns = Vec::new();
    for point in caught
        .surveyed
        .surveys
        .values()
        .flat_map(|survey| &survey.points)
    {
        let label = point.label();
        if !columns.contains(&label) {
            columns.push(label);
        }
    }
    columns
}

/// Each fault at each point, alone.
fn cells(caught: &Catch, found: &[Found], promised: &[Promise]) -> Vec<Cell> {
    let mut cells: BTreeMap<(String, String), Cell> = BTreeMap::new();
    let alone = caught.sizes.iter().filter(|size| size.faults == 1);
    for trial in alone.flat_map(|size| &size.trials) {
        let Some(placement) = trial.plan.placements.first() else {
            continue;
        };
        let (answer, about) = answer_of(trial, promised);
        let key = (placement.fault.words().to_owned(), placement.point.label());
        let by = |one: &Found| one.plan == trial.plan.to_string();
        let fresh = Cell {
            fault: key.0.clone(),
            point: key.1.clone(),
            answer,
            about,
            found: found.iter().position(by),
        };
        let cell = cells.entry(key).or_insert_with(|| fresh.clone());
        if (fresh.answer, fresh.found) > (cell.answer, cell.found) {
            *cell = fresh;
        }
    }
    cells.into_values().collect()
}

/// The worst that a trial told, and of what.
fn answer_of(trial: &Trial, promised: &[Promise]) -> (CellAnswer, String) {
    let names = |is_promised: bool| {
        let broken = trial.broken().map(|(promise, _)| promise);
        let of_kind = broken.filter(|promise| promised.contains(promise) == is_promised);
        of_kind.map(Promise::name).collect::<Vec<_>>().join(", ")
    };
    let (broken, beyond) = (names(true), names(false));
    if !broken.is_empty() {
        return (CellAnswer::Broken, broken);
    }
    if !beyond.is_empty() {
        return (CellAnswer::NotPromised, beyond);
    }
    if trial.inherent.contains_key(&Property::MutualExclusion) {
        return (CellAnswer::Inherent, "two held the lock".to_owned());
    }
    if trial.tells() {
        let kept = trial.told.iter().filter(|(_, told)| **told == Told::Kept);
        let kept: Vec<&str> = kept.map(|(promise, _)| promise.name()).collect();
        return (CellAnswer::Kept, kept.join(", "));
    }
    (
        CellAnswer::CouldNotTell,
        trial.stopped.clone().unwrap_or_default(),
    )
}

/// Why trials told nothing, each reason once.
fn untold(caught: &Catch, trials: &[&Trial]) -> BTreeMap<String, usize> {
    let mut reasons = BTreeMap::new();
    for (reason, times) in caught.sizes.iter().flat_map(|size| &size.refused) {
        *reasons.entry(reason.clone()).or_default() += times;
    }
    for trial in trials.iter().filter(|trial| !trial.tells()) {
        let reason = trial.stopped.clone().unwrap_or_else(|| {
            let nothing = trial.told.values().find_map(|told| match told {
                Told::Nothing(reason) | Told::Untested(reason) => Some(reason.clone()),
                Told::Kept | Told::Broken(_) => None,
            });
            nothing.unwrap_or_default()
        });
        *reasons.entry(reason).or_default() += 1;
    }
    reasons
}
