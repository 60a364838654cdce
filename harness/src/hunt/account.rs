//! Account of a hunt: the findings, shrunk and confirmed, and how much each promise endures.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use lockstorm_checker::Property;
use lockstorm_reports::{Cell, CellAnswer, Endurance, Found, Hunted, Size, TriedOf};
use lockstorm_scenarios::Promise;

use super::findings::gather;
use super::search::{Catch, Limits, Quarry};
use super::trial::{Told, Trial};
use crate::run::RunSettings;

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
    let gathered = gather(quarry, limits, caught, (places, settings), &mut found).await;
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
        ended_by: ended_by.or(gathered.err().map(|error| error.to_string())),
    }
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
        let is_promised = promised.contains(&promise);
        // What the lock promises has a place even where no plan puts it to the test.
        if !is_promised && tried.iter().all(|tried| tried.trials == 0) {
            continue;
        }
        let confirmed = found.iter().filter(|one| one.is_confirmed());
        let broken = confirmed.filter(|one| one.promise == promise);
        let inherent = inherent_of(caught, promise);
        endurances.push(Endurance {
            promise,
            is_promised,
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
