//! From a run in which something went wrong at random to a script that makes it go wrong.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use lockstorm_checker::Property;
use lockstorm_checker::history::FaultClass;
use lockstorm_scenarios::{Case, Checks, FaultKind};

use super::fault::Fault;
use super::placements::SearchSpace;
use super::plan::Placement;
use super::search::{Hunter, Limits, Quarry, survey, with_spares};
use super::shrink::{Aim, Shrinker, Shrunk};
use super::store::Store;
use super::trial::{Trial, case_of};
use crate::run::{RunError, RunSettings};

/// Runs of a script in the end: what one run in ten does not do would be no regression test.
const RUNS: usize = 20;

/// Faults at single messages that do what the faults of a storm do; all, where none was in force.
pub fn alike(kinds: &[FaultKind]) -> Vec<Fault> {
    let mut alike: Vec<Fault> = kinds
        .iter()
        .flat_map(|kind| of_class(kind.class()))
        .copied()
        .collect();
    if alike.is_empty() {
        alike = Fault::ALL.into();
    }
    alike.sort_unstable();
    alike.dedup();
    alike
}

const fn of_class(class: FaultClass) -> &'static [Fault] {
    match class {
        FaultClass::Death => &[
            Fault::KillClient,
            Fault::Forget,
            Fault::CutReplicas,
            Fault::Failover,
        ],
        FaultClass::Stall => &[
            Fault::PauseClient,
            Fault::StallWatchdog,
            Fault::PauseNode,
            Fault::Interleave,
            Fault::Delay,
        ],
        FaultClass::Cut | FaultClass::Packet => &[
            Fault::Lose,
            Fault::Delay,
            Fault::Interleave,
            Fault::CutReplicas,
            Fault::Failover,
        ],
        FaultClass::Clock => &[Fault::ClockJump],
        FaultClass::Data | FaultClass::Scripts => &[Fault::Forget],
        FaultClass::Promotion | FaultClass::Migration => &[Fault::CutReplicas, Fault::Failover],
        FaultClass::Other => &Fault::ALL,
    }
}

/// Looks for a plan of these faults that violates the property, and shrinks it. `None` if there is
/// none within the limits.
///
/// # Errors
/// When no servers can be had.
pub async fn reproduce(
    quarry: &Quarry,
    property: Property,
    faults: &[Fault],
    limits: Limits,
    (folder, settings): (&Path, &RunSettings),
) -> Result<Option<Shrunk>, RunError> {
    let sparing = with_spares(settings, folder);
    let surveyed = survey(quarry, limits, folder, &sparing).await?;
    let space = SearchSpace {
        surveys: surveyed.surveys,
        topology: quarry.terms.topology.clone(),
        abilities: quarry.abilities,
    };
    let hunter = Hunter {
        quarry,
        limits,
        until: Instant::now() + limits.time,
        settings: &sparing,
    };
    let shrinker = shrinker(property, limits, (folder, settings));
    let mut best: Option<Shrunk> = None;
    let mut failure = None;
    for size in 1..=limits.faults {
        let mut lots = limits.seed.stream(&format!("plans of {size}"));
        let mut plans = space.plans(size, &mut lots);
        let fits = |one: &Placement| faults.contains(&one.fault);
        plans
            .in_order
            .retain(|plan| plan.placements.iter().all(fits));
        let each = async |trial: &Trial| {
            if !trial.violated.contains(&property) {
                return ControlFlow::Continue(());
            }
            match script_of(trial, quarry, property, &shrinker).await {
                Ok(shrunk) => best = better(best.take(), shrunk),
                Err(error) => failure = Some(error),
            }
            let is_sure = best.as_ref().is_some_and(Shrunk::is_reliable);
            if is_sure || failure.is_some() {
                ControlFlow::Break(())
            } else {
                // One that needs luck is not the last word.
                ControlFlow::Continue(())
            }
        };
        let mut store = Store::forgetful(folder);
        let (_, error) = hunter.try_all(size, plans, &mut store, each).await;
        if let Some(error) = failure.or(error) {
            return Err(error);
        }
        if best.as_ref().is_some_and(Shrunk::is_reliable) {
            break;
        }
        failure = None;
    }
    Ok(best)
}

/// Shrinks the plan of a trial that violated the property.
async fn script_of(
    trial: &Trial,
    quarry: &Quarry,
    property: Property,
    shrinker: &Shrinker<'_>,
) -> Result<Option<Shrunk>, RunError> {
    let plan = shrinker.plainest(&trial.plan, quarry).await?;
    match case_of(&plan, &quarry.lock, &quarry.terms) {
        Some(Ok(case)) => shrinker.shorten(only(case, property).to_scenario()).await,
        Some(Err(_)) | None => Ok(None),
    }
}

/// The one that does it more often.
fn better(one: Option<Shrunk>, other: Option<Shrunk>) -> Option<Shrunk> {
    let times = |shrunk: &Option<Shrunk>| shrunk.as_ref().map_or(0, |one| one.times);
    if times(&other) > times(&one) {
        other
    } else {
        one
    }
}

fn shrinker<'a>(
    property: Property,
    limits: Limits,
    (folder, settings): (&'a Path, &'a RunSettings),
) -> Shrinker<'a> {
    Shrinker {
        aim: Aim::Property(property),
        settings,
        folder,
        at_once: limits.at_once,
        within: limits.time,
        runs: RUNS,
        seed: limits.seed,
    }
}

/// Shortens the script of a case that violates the property.
///
/// # Errors
/// When no servers can be had.
pub async fn shorten(
    case: Case,
    property: Property,
    limits: Limits,
    place: (&Path, &RunSettings),
) -> Result<Option<Shrunk>, RunError> {
    let shrinker = shrinker(property, limits, place);
    shrinker.shorten(only(case, property).to_scenario()).await
}

/// The case as one that expects nothing but this property to be valid: as a regression test it
/// fails until that is so.
fn only(case: Case, property: Property) -> Case {
    Case {
        situation: None,
        expect: std::collections::BTreeMap::new(),
        checks: Checks {
            only: Some(vec![property]),
            ..case.checks
        },
        ..case
    }
}
