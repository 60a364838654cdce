//! The search: a survey, then plan after plan, those with the fewest faults first.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use lockstorm_scenarios::{Case, DurationSpec, Lock, Promise, Topology, TopologyKind};
use serde::{Deserialize, Serialize};
use tokio::task::JoinSet;

use super::fault::Abilities;
use super::placements::{Plans, SearchSpace};
use super::plan::{Base, Plan};
use super::point::Survey;
use super::script::{FIRST, SECOND, Terms, operations};
use super::store::Store;
use super::trial::{Ran, Trial, case_of, try_case, try_plan};
use crate::run::{Overheard, RunError, RunSettings};
use crate::seed::Seed;
use crate::server::Spares;

/// Lease of locks of ours.
const SHORT_LEASE: DurationSpec = DurationSpec::from_millis(400);
/// Lease of locks that know whole seconds only, and of those of others.
const LONG_LEASE: DurationSpec = DurationSpec::from_secs(1);

/// Folder of the servers that trials have from each other, among the trials.
const SPARES: &str = "servers";

/// Errors in a row after which a hunt gives up.
const ERRORS_MAX: u32 = 6;

/// Lock that is hunted, on its servers.
pub struct Quarry {
    /// The lock.
    pub lock: Lock,
    /// The servers and the lease.
    pub terms: Terms,
    /// Abilities of its clients.
    pub abilities: Abilities,
}

impl Quarry {
    /// A lock on servers of its own, with this lease, or with the shortest usual one that it can
    /// have: some libraries know whole seconds only, and of a library nobody knows it.
    pub fn new(
        lock: &Lock,
        topology: &Topology,
        lease: Option<DurationSpec>,
        (abilities, renews): (Abilities, bool),
        promised: &[Promise],
    ) -> Self {
        let with = |lease: DurationSpec| {
            let mut lock = lock.clone();
            // Or every grant that waits for a replica in vain would be over by then.
            lock.limit_sync_timeout(DurationSpec::from_millis(lease.as_millis() / 4));
            Self {
                lock,
                terms: Terms {
                    topology: topology.clone(),
                    lease_ms: lease.as_millis(),
                    renews,
                    promised: promised.to_vec(),
                },
                abilities,
            }
        };
        if let Some(lease) = lease {
            return with(lease);
        }
        let short = with(SHORT_LEASE);
        if !lock.is_foreign() && short.can_be() {
            short
        } else {
            with(LONG_LEASE)
        }
    }

    /// Every promise that the lock makes.
    pub fn promises(&self) -> Vec<Promise> {
        [self.lock.promises(), self.terms.promised.clone()].concat()
    }

    /// Tells whether the lock can have this lease on these servers.
    fn can_be(&self) -> bool {
        let plan = Plan {
            base: Base::Patient,
            placements: Vec::new(),
        };
        matches!(case_of(&plan, &self.lock, &self.terms), Some(Ok(_)))
    }
}

/// How far a hunt goes.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Faults of one plan at most.
    pub faults: usize,
    /// Time for the trials.
    pub time: Duration,
    /// Trials at once.
    pub at_once: usize,
    /// The order of the trials follows from it.
    pub seed: Seed,
}

/// Findings of the runs without a fault. They differ from time to time, and which plans there are
/// follows from them: a hunt that goes on takes those that it began with.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Surveyed {
    /// The behaviours that the lock can have, with their points.
    pub surveys: BTreeMap<Base, Survey>,
    /// The behaviours that it cannot have, each with the reason.
    pub left_out: Vec<(Base, String)>,
    /// The runs.
    pub trials: Vec<Trial>,
}

/// Everything that was tried.
#[derive(Default)]
pub struct Catch {
    /// Findings of the runs without a fault.
    pub surveyed: Surveyed,
    /// The trials of each size.
    pub sizes: Vec<TriedSize>,
    /// Time that the trials took.
    pub took: Duration,
    /// Why it ended early.
    pub ended_by: Option<RunError>,
}

/// The trials of one size.
#[derive(Default)]
pub struct TriedSize {
    /// Number of faults.
    pub faults: usize,
    /// How many plans there are.
    pub all: u128,
    /// How many do not come about: a message of theirs never passes.
    pub impossible: u64,
    /// Reasons why plans make no scenario, and how often each was given.
    pub refused: BTreeMap<String, usize>,
    /// Those that were tried.
    pub trials: Vec<Trial>,
}

impl TriedSize {
    /// Takes a trial that has ended.
    fn take(&mut self, trial: Trial) {
        if trial.came_about() {
            self.trials.push(trial);
        } else {
            self.impossible += 1;
        }
    }
}

/// Looks for plans that break the lock, until the time is over or there are no more of them.
pub async fn search(
    quarry: &Quarry,
    limits: Limits,
    store: &mut Store,
    settings: &RunSettings,
) -> Catch {
    let mut found = Catch::default();
    let settings = &with_spares(settings, &store.trials());
    match survey_once(quarry, limits, store, settings).await {
        Ok(surveyed) => found.surveyed = surveyed,
        Err(error) => {
            found.ended_by = Some(error);
            return found;
        }
    }
    found.sizes.push(TriedSize {
        all: found.surveyed.trials.len() as u128,
        trials: found.surveyed.trials.clone(),
        ..TriedSize::default()
    });
    let begun = Instant::now();
    let space = SearchSpace {
        surveys: found.surveyed.surveys.clone(),
        topology: quarry.terms.topology.clone(),
        abilities: quarry.abilities,
    };
    for faults in 1..=limits.faults {
        if begun.elapsed() >= limits.time || settings.interrupt.is_cancelled() {
            break;
        }
        let mut lots = limits.seed.stream(&format!("plans of {faults}"));
        let plans = space.plans(faults, &mut lots);
        let hunter = Hunter {
            quarry,
            limits,
            until: begun + limits.time,
            settings,
        };
        let each = async |_: &Trial| ControlFlow::Continue(());
        let (tried, error) = hunter.try_all(faults, plans, store, each).await;
        found.sizes.push(tried);
        if error.is_some() {
            found.ended_by = error;
            break;
        }
    }
    found.took = begun.elapsed();
    found
}

/// Settings for runs that may have servers from each other.
pub(super) fn with_spares(settings: &RunSettings, trials: &Path) -> RunSettings {
    RunSettings {
        spares: Some(Arc::new(Spares::new(trials.join(SPARES)))),
        ..settings.clone()
    }
}

/// Takes the findings of the call that began the hunt, or makes them.
async fn survey_once(
    quarry: &Quarry,
    limits: Limits,
    store: &Store,
    settings: &RunSettings,
) -> Result<Surveyed, RunError> {
    if let Some(surveyed) = store.surveyed() {
        return Ok(surveyed);
    }
    let surveyed = survey(quarry, limits, &store.trials(), settings).await?;
    if !settings.interrupt.is_cancelled() {
        store.keep_surveyed(&surveyed);
    }
    Ok(surveyed)
}

/// Runs each behaviour once without a fault, reads off what can go wrong, and keeps what the lock
/// broke all the same.
///
/// # Errors
/// When no servers can be had.
pub async fn survey(
    quarry: &Quarry,
    limits: Limits,
    folder: &Path,
    settings: &RunSettings,
) -> Result<Surveyed, RunError> {
    let mut found = Surveyed::default();
    for base in Base::ALL {
        let needed = base.needs();
        let lacks = needed.is_some_and(|promise| !quarry.promises().contains(&promise));
        if lacks || (base.needs_renewal() && !quarry.terms.renews) {
            continue;
        }
        let plan = Plan {
            base,
            placements: Vec::new(),
        };
        let case = match case_of(&plan, &quarry.lock, &quarry.terms) {
            Some(Ok(case)) => case,
            Some(Err(reason)) => {
                found.left_out.push((base, reason));
                continue;
            }
            None => continue,
        };
        let overheard = Overheard::default();
        let listening = RunSettings {
            overheard: Some(overheard.clone()),
            ..settings.clone()
        };
        let seed = limits.seed.child(&plan.to_string());
        settings.progress.say(&format!("survey: {}", base.words()));
        let ran = survive(case, seed, folder, &listening).await?;
        found.trials.push(Trial::of(&plan, &ran));
        let passed = overheard.lock().expect("no holder panics").clone();
        if let Some(reason) = ran.record.stopped {
            found.left_out.push((base, reason));
        } else {
            let kind = quarry.terms.topology.kind();
            let any_will_do = matches!(kind, TopologyKind::Etcd | TopologyKind::Zookeeper);
            let script = operations(base, &quarry.terms);
            let survey = Survey::of(&passed, &[FIRST, SECOND], &script, any_will_do);
            found.surveys.insert(base, survey);
        }
    }
    // Whoever asks all servers at once in one behaviour does so in each.
    let is_symmetric = found.surveys.values().any(|survey| survey.is_symmetric);
    for survey in found.surveys.values_mut() {
        survey.is_symmetric = is_symmetric;
    }
    Ok(found)
}

/// Runs a case, and again if its servers could not be had, a few times.
async fn survive(
    case: Case,
    seed: Seed,
    folder: &Path,
    settings: &RunSettings,
) -> Result<Ran, RunError> {
    let mut errors = 1;
    loop {
        match try_case(case.clone(), seed, folder, settings).await {
            Err(error) if error.is_of_one_run() && errors < ERRORS_MAX => errors += 1,
            ended => return ended,
        }
    }
}

/// Trial runner for the plans of one size.
pub(super) struct Hunter<'a> {
    pub(super) quarry: &'a Quarry,
    pub(super) limits: Limits,
    pub(super) until: Instant,
    pub(super) settings: &'a RunSettings,
}

impl Hunter<'_> {
    /// Tries plans until there are no more of them, the time is over, `each` breaks it off, or no
    /// servers can be had. The trials that are going on then come to their end.
    pub(super) async fn try_all(
        &self,
        faults: usize,
        plans: Plans,
        store: &mut Store,
        mut each: impl AsyncFnMut(&Trial) -> ControlFlow<()>,
    ) -> (TriedSize, Option<RunError>) {
        let mut tried = TriedSize {
            faults,
            all: plans.all,
            ..TriedSize::default()
        };
        let mut waiting = plans.in_order.into_iter();
        let mut going = JoinSet::new();
        let mut errors = 0;
        let mut last = None;
        let mut flow = ControlFlow::Continue(());
        loop {
            let goes_on = || flow.is_continue() && errors < ERRORS_MAX && self.goes_on();
            while going.len() < self.limits.at_once && goes_on() {
                let Some(plan) = waiting.next() else { break };
                if let Some(known) = store.known(&plan) {
                    tried.take(known);
                    continue;
                }
                match case_of(&plan, &self.quarry.lock, &self.quarry.terms) {
                    Some(Ok(case)) => self.begin(plan, case, &store.trials(), &mut going),
                    Some(Err(reason)) => {
                        *tried.refused.entry(reason).or_default() += 1;
                    }
                    None => tried.impossible += 1,
                }
            }
            let Some(joined) = going.join_next().await else {
                break;
            };
            match joined.expect("a trial does not panic") {
                // It was cut short, and is tried again when the hunt goes on.
                Ok(trial) if trial.stopped.is_some() && self.settings.interrupt.is_cancelled() => {}
                Ok(trial) => {
                    errors = 0;
                    store.keep(&trial);
                    self.tell(&tried, &trial);
                    if flow.is_continue() {
                        flow = each(&trial).await;
                    }
                    tried.take(trial);
                }
                Err(error) => {
                    errors = if error.is_of_one_run() {
                        errors + 1
                    } else {
                        ERRORS_MAX
                    };
                    last = Some(error);
                }
            }
        }
        (tried, last.filter(|_| errors >= ERRORS_MAX))
    }

    fn goes_on(&self) -> bool {
        Instant::now() < self.until && !self.settings.interrupt.is_cancelled()
    }

    fn begin(
        &self,
        plan: Plan,
        case: Case,
        trials: &Path,
        going: &mut JoinSet<Result<Trial, RunError>>,
    ) {
        let name = plan.to_string();
        let seed = self.limits.seed.child(&name);
        let (trials, settings) = (trials.to_owned(), self.settings.clone());
        going.spawn(async move { try_plan((&plan, case), seed, &trials, &settings).await });
    }

    /// Tells how far it is.
    fn tell(&self, tried: &TriedSize, trial: &Trial) {
        let broken: BTreeSet<&str> = trial.broken().map(|(promise, _)| promise.name()).collect();
        let broken: Vec<&str> = broken.into_iter().collect();
        let what = if broken.is_empty() {
            String::new()
        } else {
            format!(": {} broken by {}", broken.join(", "), trial.plan)
        };
        let left = self.until.saturating_duration_since(Instant::now());
        self.settings.progress.say(&format!(
            "{} of {} plans with {} fault{}, {} s left{what}",
            tried.trials.len() + 1,
            tried.all,
            tried.faults,
            if tried.faults == 1 { "" } else { "s" },
            left.as_secs(),
        ));
    }
}

/// Folder of the trials of lock number `n`, from 0.
pub fn folder_of(n: usize, quarry: &Quarry, hunt: &Path) -> PathBuf {
    let words = format!(
        "{} {} {}",
        n + 1,
        quarry.lock.bare_label(),
        quarry.terms.topology.kind().name()
    );
    hunt.join(crate::plan::slug(&words))
}
