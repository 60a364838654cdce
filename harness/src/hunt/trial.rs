//! A trial: one plan, run on real servers and judged.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use lockstorm_checker::history::FaultPhase;
use lockstorm_checker::{Property, Verdict};
use lockstorm_reports::{Answer, RunRecord};
use lockstorm_scenarios::{Case, FaultKind, Lock, Promise, Scenario, load_str, put_into, to_toml};
use serde::{Deserialize, Serialize};

use super::course::course;
use super::plan::Plan;
use super::script::{Terms, scenario};
use crate::environment_error::EnvironmentError;
use crate::plan::Job;
use crate::progress::{self, ProgressKind};
use crate::run::{RunError, RunSettings, run};
use crate::seed::Seed;

/// Tries of a plan of one fault at most. One of which the message never passed in all of them does
/// not come about. Of several faults one often keeps the message of another from passing, and what
/// does not come about once is not tried again.
const TRIES_MAX: u32 = 3;

/// Outcome of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Trial {
    /// The plan.
    pub plan: Plan,
    /// Answers for each promise that it put to the test.
    pub told: BTreeMap<Promise, Told>,
    /// Properties that it violated, whatever the lock promises.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub violated: BTreeSet<Property>,
    /// Violations that no lock of this kind can prevent there, each with the claim.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub inherent: BTreeMap<Property, String>,
    /// Its [course](super::course::course).
    #[serde(default)]
    pub course: String,
    /// Why the script stopped before its end, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// True if one of its messages never passed, so that the plan did not come about.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub missed: bool,
}

/// Answer of a trial for a promise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Told {
    /// It was kept.
    Kept,
    /// It was broken; the claim.
    Broken(String),
    /// All went as planned, and nothing in it put the promise to the test; the reason.
    Untested(String),
    /// The trial cannot tell; the reason.
    Nothing(String),
}

impl Trial {
    /// Reads it off its run.
    pub fn of(plan: &Plan, Ran { record, course }: &Ran) -> Self {
        let stalls = record.analysis.stalls.is_some();
        let went_as_planned = record.stopped.is_none() && !stalls && all_observed(record);
        let told = record.outcomes().into_iter().map(|outcome| {
            let reason = outcome.reason.unwrap_or_default();
            let told = match outcome.seen {
                Answer::Kept => Told::Kept,
                Answer::Broken => Told::Broken(reason),
                _ if went_as_planned && is_put_to_no_test(record, outcome.promise) => {
                    Told::Untested(reason)
                }
                Answer::CouldNotTell | Answer::NotPromised => Told::Nothing(reason),
            };
            (outcome.promise, told)
        });
        let inherent = record.inherent().into_iter();
        let judged = record.analysis.properties.iter();
        let violated = judged.filter(|(_, judged)| judged.verdict == Verdict::Violated);
        Self {
            plan: plan.clone(),
            told: told.collect(),
            violated: violated.map(|(property, _)| *property).collect(),
            inherent: inherent
                .map(|(property, reason)| (property, reason.to_owned()))
                .collect(),
            course: course.clone(),
            stopped: record.stopped.clone(),
            missed: misses_a_message(record),
        }
    }

    /// The promises that it broke.
    pub fn broken(&self) -> impl Iterator<Item = (Promise, &str)> {
        self.told.iter().filter_map(|(promise, told)| match told {
            Told::Broken(claim) => Some((*promise, claim.as_str())),
            Told::Kept | Told::Untested(_) | Told::Nothing(_) => None,
        })
    }

    /// Tells whether all its faults had their messages; one that broke a promise has had enough of
    /// them.
    pub fn came_about(&self) -> bool {
        !self.missed || self.broken().next().is_some()
    }

    /// Tells whether it says anything of any promise.
    pub fn tells(&self) -> bool {
        let tells = |told: &Told| matches!(told, Told::Kept | Told::Broken(_));
        self.told.values().any(tells)
    }
}

/// Tells whether every fault was seen to have its effect.
pub fn all_observed(record: &RunRecord) -> bool {
    let mut faults = record.analysis.faults.iter();
    faults.all(|fault| fault.at(FaultPhase::Observed).is_some())
}

/// Tells whether a message at which something was to go wrong never passed.
fn misses_a_message(record: &RunRecord) -> bool {
    let at_messages = [
        FaultKind::HoldMessage,
        FaultKind::DelayMessage,
        FaultKind::LoseMessage,
    ];
    let at_messages = at_messages.map(FaultKind::name);
    let mut faults = record.analysis.faults.iter();
    faults.any(|fault| {
        at_messages.contains(&fault.kind.as_str()) && fault.at(FaultPhase::Observed).is_none()
    })
}

/// Tells whether nothing in a run that went as planned could have broken the promise. It is asked
/// of those promises alone whose property is unknown for no other reason: nobody asked for a lock
/// that was held, nobody was refused, nobody gave back what was not his.
fn is_put_to_no_test(record: &RunRecord, promise: Promise) -> bool {
    let for_no_other_reason = [
        Property::MutualExclusion,
        Property::Ownership,
        Property::SpuriousRefusal,
    ];
    let Some(decisive) = promise.properties().first() else {
        return false;
    };
    let judged = record.analysis.properties.get(decisive);
    if *decisive == Property::DeadOnArrival {
        // It is judged of grants; of those that there are it may be unknown for other reasons.
        return judged.is_none() && record.analysis.coverage.granted == 0;
    }
    for_no_other_reason.contains(decisive)
        && judged.is_none_or(|judgement| judgement.verdict == Verdict::Unknown)
}

/// The case of a plan; `None` if some of its faults can never come about.
///
/// # Errors
/// Why the lock cannot be put into it.
pub fn case_of(plan: &Plan, lock: &Lock, terms: &Terms) -> Option<Result<Case, String>> {
    Some(place(&scenario(plan, terms)?, lock, terms))
}

fn place(scenario: &Scenario, lock: &Lock, terms: &Terms) -> Result<Case, String> {
    let loaded = load_str(&to_toml(scenario), "hunt.toml", &[]);
    let loaded = loaded.map_err(|mistakes| mistakes.to_string())?;
    put_into(&loaded, lock, &terms.topology, &terms.promised, None)
}

/// A run that has ended.
pub struct Ran {
    /// Its record.
    pub record: RunRecord,
    /// Its [course](super::course::course).
    pub course: String,
}

/// Runs a case in a folder of its own below this one, which is gone afterwards. No two runs share
/// one: the servers of the first may be gone a moment later than its record is there, and take
/// their data along.
///
/// # Errors
/// When there are no servers, or no history.
pub async fn try_case(
    case: Case,
    seed: Seed,
    below: &Path,
    settings: &RunSettings,
) -> Result<Ran, RunError> {
    static RUNS: AtomicU64 = AtomicU64::new(0);
    let folder = &below.join(RUNS.fetch_add(1, Ordering::Relaxed).to_string());
    fs::create_dir_all(folder)
        .map_err(EnvironmentError::io("create", folder.display().to_string()))?;
    let job = Job {
        case,
        repetition: 0,
        seed,
        slug: String::new(),
        rerun: None,
    };
    // Of hundreds of trials nobody wants to know each step.
    let quiet = RunSettings {
        progress: progress::show(ProgressKind::None, 0).into(),
        ..settings.clone()
    };
    let record = run(&job, folder, &quiet).await;
    let course = course(folder);
    // What is worth keeping is run again.
    let _ = fs::remove_dir_all(folder);
    Ok(Ran {
        record: record?,
        course,
    })
}

/// Runs a plan; again, with other luck, where one of its messages never passed, for how often
/// clients ask is a matter of time, or where this machine stood still.
///
/// # Errors
/// When there are no servers, or no history.
pub async fn try_plan(
    (plan, case): (&Plan, Case),
    seed: Seed,
    folder: &Path,
    settings: &RunSettings,
) -> Result<Trial, RunError> {
    let tries_max = if plan.placements.len() > 1 {
        1
    } else {
        TRIES_MAX
    };
    let mut tries = 1;
    loop {
        let of_try = seed.child(&tries.to_string());
        let ran = try_case(case.clone(), of_try, folder, settings).await?;
        let trial = Trial::of(plan, &ran);
        let is_clear = trial.came_about() && ran.record.analysis.stalls.is_none();
        let tells = is_clear || trial.broken().next().is_some();
        if tells || tries == tries_max || settings.interrupt.is_cancelled() {
            return Ok(trial);
        }
        tries += 1;
    }
}

#[cfg(test)]
mod tests {
    use lockstorm_scenarios::{LockOperation, Message, Step, System, TopologyKind, typed_lock};

    use super::super::fault::{Abilities, Fault};
    use super::super::plan::{Base, Placement};
    use super::super::point::Point;
    use super::super::script::operations;
    use super::*;
    use crate::conformance::usual_servers;

    /// Everything that can be tried at one message of each operation that a script has.
    fn placements(base: Base, terms: &Terms) -> Vec<Placement> {
        let mut all = Vec::new();
        let node = terms.topology.nodes().swap_remove(0);
        let mut operations = operations(base, terms);
        if base == Base::Renewed {
            operations.insert(("a".to_owned(), LockOperation::Renew), 1);
        }
        let abilities = Abilities {
            cancel: true,
            watchdog: true,
        };
        for ((client, operation), count) in operations {
            for (ordinal, message) in (1..=count)
                .flat_map(|ordinal| [Message::Request, Message::Reply].map(|side| (ordinal, side)))
            {
                let point = Point {
                    client: client.clone(),
                    operation,
                    ordinal,
                    nth: 1,
                    message,
                    command: "SET".to_owned(),
                    node: Some(node.clone()),
                };
                let fits = |fault: &Fault| {
                    base.tries(*fault) && fault.fits(&point, &terms.topology, abilities)
                };
                let faults = Fault::ALL.into_iter().filter(fits);
                all.extend(faults.map(|fault| Placement {
                    point: point.clone(),
                    fault,
                }));
            }
        }
        all
    }

    /// Reasons why a lock has no renewals that something could happen to.
    const RENEWS_NOTHING: [&str; 2] =
        ["it renews nothing", "it has no lease that could be renewed"];

    #[test]
    fn every_plan_of_one_fault_is_a_scenario_on_all_servers() {
        let mut wrong = BTreeSet::new();
        let mut right = 0;
        for name in [
            "redisson-fair",
            "redisson-rw",
            "redisson-permits",
            "redlock",
            "etcd-mutex",
            "zookeeper-mutex",
            "mysql-get-lock",
            "postgres-row-lease",
        ] {
            let lock = typed_lock(name).unwrap();
            let kinds = TopologyKind::ALL.into_iter();
            let kinds = kinds
                .filter(|kind| *kind != TopologyKind::External && kind.system() != System::Custom);
            for kind in kinds.filter(|kind| lock.kind().supports(*kind)) {
                let terms = Terms {
                    topology: usual_servers(kind),
                    // Some keep time in whole seconds.
                    lease_ms: if kind.system() == System::Redis {
                        400
                    } else {
                        2_000
                    },
                    renews: true,
                    promised: Vec::new(),
                };
                let has = |base: &Base| {
                    base.needs()
                        .is_none_or(|one| lock.promises().contains(&one))
                };
                for base in Base::ALL.into_iter().filter(has) {
                    for placement in placements(base, &terms) {
                        let placements = vec![placement];
                        let plan = Plan { base, placements };
                        match case_of(&plan, &lock, &terms) {
                            Some(Err(why)) if !RENEWS_NOTHING.contains(&&*why) => {
                                let (on, why) =
                                    (kind.name(), why.lines().next().unwrap_or_default());
                                wrong.insert(format!("{name} on {on}: {plan}: {why}"));
                            }
                            Some(Ok(_)) => right += 1,
                            Some(Err(_)) | None => {}
                        }
                    }
                }
            }
        }
        let wrong: Vec<String> = wrong.into_iter().collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert!(right > 1000, "only {right}");
    }

    #[test]
    fn nothing_that_is_stuck_is_freed_by_somebody_who_was_refused() {
        let terms = Terms {
            topology: usual_servers(TopologyKind::Single),
            lease_ms: 400,
            renews: true,
            promised: Vec::new(),
        };
        for base in Base::ALL {
            let placements = Vec::new();
            let script = scenario(&Plan { base, placements }, &terms).unwrap();
            let careless = script.step.iter().any(|step| match step {
                Step::Release(release) => !release.unless_refused,
                _ => false,
            });
            let tests = script.situation.unwrap().tests;
            let tells = tests.contains(&Promise::Obtainable);
            assert_ne!(careless, tells, "{base:?}");
        }
    }
}
