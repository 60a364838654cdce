//! From a run in which something went wrong at random to a script that makes it go wrong.

use std::path::Path;
use std::time::Instant;

use lockstorm_checker::Property;
use lockstorm_checker::history::FaultClass;
use lockstorm_scenarios::{Case, Checks, FaultKind};

use super::fault::Fault;
use super::placements::Ground;
use super::search::{Limits, Quarry, survey};
use super::shrink::{Aim, Shrinker, Shrunk};
use super::trial::{case_of, try_case};
use crate::run::{RunError, RunSettings};
use tokio::task::JoinSet;

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
    let known = survey(quarry, limits, folder, settings).await?;
    let ground = Ground {
        surveys: known.surveys,
        topology: quarry.terms.topology.clone(),
        abilities: quarry.abilities,
    };
    let until = Instant::now() + limits.time;
    let aim = Aim::Property(property);
    let shrinker = Shrinker {
        aim,
        settings,
        folder,
        at_once: limits.at_once.min(super::shrink::RUNS),
        seed: limits.seed,
    };
    let mut best = None;
    for size in 1..=limits.faults {
        let mut lots = limits.seed.stream(&format!("plans of {size}"));
        let plans = ground.plans(size, &mut lots).in_order.into_iter();
        let fits = |one: &super::plan::Placement| faults.contains(&one.fault);
        let mut plans = plans.filter(|plan| plan.placements.iter().all(fits));
        let mut going = JoinSet::new();
        loop {
            let goes_on = Instant::now() < until && !settings.interrupt.is_cancelled();
            while goes_on && going.len() < limits.at_once {
                let Some(plan) = plans.next() else { break };
                let Some(Ok(case)) = case_of(&plan, &quarry.lock, &quarry.terms) else {
                    continue;
                };
                let seed = limits.seed.child(&plan.to_string());
                let folder = folder.to_owned();
                let settings = settings.clone();
                going.spawn(async move {
                    let record = try_case(case, seed, &folder, &settings).await;
                    record.map(|record| aim.is_met_by(&record).then_some(plan))
                });
            }
            let Some(joined) = going.join_next().await else {
                break;
            };
            let found = match joined.expect("a trial does not panic") {
                Ok(found) => found,
                Err(error) if error.is_of_one_run() => None,
                Err(error) => return Err(error),
            };
            let Some(plan) = found else { continue };
            let plan = shrinker.plainest(&plan, quarry).await?;
            let Some(Ok(case)) = case_of(&plan, &quarry.lock, &quarry.terms) else {
                continue;
            };
            let shrunk = shrinker.shorten(only(case, property).to_scenario()).await?;
            // One that needs luck is not the last word.
            let times = |shrunk: &Option<Shrunk>| shrunk.as_ref().map_or(0, |one| one.times);
            if times(&shrunk) > times(&best) {
                best = shrunk;
            }
            if times(&best) == super::shrink::RUNS {
                return Ok(best);
            }
        }
    }
    Ok(best)
}

/// Shortens the script of a case that violates the property.
///
/// # Errors
/// When no servers can be had.
pub async fn shorten(
    case: Case,
    property: Property,
    limits: Limits,
    (folder, settings): (&Path, &RunSettings),
) -> Result<Option<Shrunk>, RunError> {
    let shrinker = Shrinker {
        aim: Aim::Property(property),
        settings,
        folder,
        at_once: limits.at_once.min(super::shrink::RUNS),
        seed: limits.seed,
    };
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
