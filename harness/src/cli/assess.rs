//! `lockstorm assess`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Error;
use clap::Args;
use lockstorm_reports::{
    Answer, HUNT_VERSION, HuntRecord, HuntSummary, SuiteRecord, terminal_assessment, worst_answer,
    write_suite,
};
use lockstorm_scenarios::{
    Case, CaseLabels, DurationSpec, LeaseEnds, Loaded, Lock, Override, Promise, Scenario,
    Situation, Step, Topology, Workload, load, load_shipped, numbered, numbered_by_all, put_into,
};

use super::exit::{ExitCode, NothingSelected};
use super::perform::HowArgs;
use super::subject::{Subject, SubjectArgs};
use super::{examples, hunt, report};
use crate::adapter::Can;
use crate::hunt::{Limits, Quarry};
use crate::output::{self, Stream};
use crate::plan::{RunPlan, jobs};
use crate::rerun::{self, quoted};
use crate::run::{Finished, NetworkChoice, Networks, Pace, RunSettings};
use crate::seed::Seed;
use crate::server::versions_of;
use crate::usage_error::UsageError;

/// Runs of each storm where a situation is run once: what a storm finds depends on its seed.
const STORM_SEEDS: u32 = 3;

/// Faults of one trial at most, of the hunt beside an assessment.
const FAULTS_MAX: usize = 2;
/// Folder of that hunt, in the folder of the assessment.
const HUNT_FOLDER: &str = "hunt";

/// Arguments of `lockstorm assess`.
#[derive(Debug, Args)]
#[command(after_help = examples::ASSESS)]
pub struct AssessArgs {
    #[command(flatten)]
    pub subjects: SubjectArgs,
    /// Only the situations whose name, as in `list situations` or in reports, contains this text;
    /// may be repeated.
    #[arg(long, value_name = "TEXT")]
    pub only: Vec<String>,
    /// Run every situation this many times, and every storm three times as often.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub repeat: u32,
    /// Situation files beside those that the program carries.
    #[arg(long = "situation", value_name = "SITUATION.toml")]
    pub situations: Vec<PathBuf>,
    /// Hunt each lock on each kind of servers for this long beside it: for the fewest faults that
    /// break it, as `lockstorm hunt` does, with as many trials at once as that has, whatever
    /// --jobs says.
    #[arg(long, value_name = "TIME")]
    pub hunt: Option<DurationSpec>,
    #[command(flatten)]
    pub how: HowArgs,
}

/// Assesses the locks.
///
/// # Errors
/// When a lock is unknown, a situation is wrong, or the servers cannot be had.
pub fn execute(args: &AssessArgs) -> Result<ExitCode, Error> {
    let prepared = args.how.prepare()?;
    let subjects = args.subjects.read(&args.how.common)?;
    let plan = make_plan(args, &subjects)?;
    let pace = Pace {
        at_once: args.how.common.jobs_or(1),
        fail_fast: false,
        retries: args.how.ci.retries,
    };
    let further = async |finished: &mut Finished, folder: &Path, settings: &RunSettings| {
        let (Some(time), Finished::Suite(suite, _)) = (args.hunt, finished) else {
            return Ok(());
        };
        hunt_beside((args, &subjects, time), suite, folder, settings).await
    };
    let (finished, end) = args.how.perform(plan, prepared, pace, further, show)?;
    let code = code(&finished);
    end.conclude(finished, code)
}

/// Hunts the locks that were assessed, on the same servers, and keeps the outcome beside them.
async fn hunt_beside(
    (args, subjects, time): (&AssessArgs, &[Subject], DurationSpec),
    suite: &mut SuiteRecord,
    folder: &Path,
    settings: &RunSettings,
) -> Result<(), Error> {
    let kinds = args.subjects.kinds();
    let quarries: Vec<Quarry> = subjects
        .iter()
        .flat_map(|subject| {
            let known = (None, &args.subjects.promises[..]);
            let kinds = kinds.iter();
            kinds.filter_map(move |kind| hunt::quarry(subject, *kind, known))
        })
        .collect();
    let limits = Limits {
        faults: FAULTS_MAX,
        time: time.0,
        at_once: hunt::usual_jobs(hunt::topologies(&quarries)),
        seed: Seed(suite.seed),
    };
    let settings = RunSettings {
        networks: Networks::make_ready(NetworkChoice::Fabric, [])?,
        ..settings.clone()
    };
    let place = folder.join(HUNT_FOLDER);
    let (hunts, failure) = hunt::hunt_all(&quarries, limits, &place, &settings).await;
    if hunts.is_empty() {
        return failure.map_or(Ok(()), Err);
    }
    let record = HuntRecord {
        version: HUNT_VERSION,
        seed: suite.seed,
        started: suite.started.clone(),
        rerun: suite.rerun.clone(),
        folder: place.display().to_string(),
        server: versions_of(hunt::topologies(&quarries), &settings.program)?,
        hunts,
    };
    report::render_hunt(&record, &place)?;
    let hunts = record.hunts.iter();
    suite.hunts = hunts
        .map(|hunted| HuntSummary::of(hunted, HUNT_FOLDER))
        .collect();
    write_suite(folder, suite)?;
    failure.map_or(Ok(()), Err)
}

/// Only what is broken fails; where no run could tell of a promise, nothing was told.
fn code(finished: &Finished) -> ExitCode {
    let Finished::Suite(suite, _) = finished else {
        return ExitCode::Unknown;
    };
    match worst_answer(suite) {
        Some(Answer::Broken) => ExitCode::Unexpected,
        Some(Answer::Kept | Answer::NotPromised | Answer::CouldNotTell) => ExitCode::AsExpected,
        None => ExitCode::Unknown,
    }
}

fn show(finished: &Finished) {
    if let Finished::Suite(suite, _) = finished {
        output::painted(&terminal_assessment(suite, Stream::Error.layout()));
    }
}

/// Reads the situations that are asked for.
fn situations(args: &AssessArgs) -> Result<Vec<Loaded>, Error> {
    let mut all = Vec::new();
    let none: &[Override] = &[];
    for shipped in lockstorm_scenarios::situations() {
        all.push(load_shipped(shipped, none)?);
    }
    for path in &args.situations {
        all.push(load(path, none)?);
    }
    all.retain(|loaded| !numbers(args, &loaded.scenario).is_empty());
    Ok(all)
}

/// The numbers of servers with which a situation is asked for; none if it is not.
fn numbers(args: &AssessArgs, scenario: &Scenario) -> Vec<Option<u32>> {
    let hazard = scenario.hazard.as_ref().unwrap_or(&scenario.name);
    let is_asked_for = |hits: &Option<u32>| {
        let names = [scenario.name.clone(), numbered(hazard, *hits)];
        let is_named = |text: &String| names.iter().any(|name| name.contains(text));
        args.only.is_empty() || args.only.iter().any(is_named)
    };
    let all = scenario.situation.as_ref().map(Situation::numbers_hit);
    let mut all = all.unwrap_or_else(|| vec![None]);
    all.retain(is_asked_for);
    all
}

/// Every situation for every lock on every topology that fits.
fn make_plan(args: &AssessArgs, subjects: &[Subject]) -> Result<RunPlan, Error> {
    let situations = situations(args)?;
    let wanted = args.subjects.kinds();
    let custom = args.subjects.custom()?;
    let mut cases: Vec<Case> = Vec::new();
    let mut left_out = Vec::new();
    for subject in subjects {
        let lock = &subject.lock;
        let mut elsewhere = Vec::new();
        for loaded in &situations {
            let Some(situation) = &loaded.scenario.situation else {
                let text = format!("'{}' has no [situation]", loaded.scenario.name);
                return Err(UsageError(text).into());
            };
            // What cannot be done on them the rules of scenarios say.
            let on = custom.as_slice().iter().chain(&situation.topologies);
            let mut on = on
                .filter(|topology| wanted.contains(&topology.kind()))
                .peekable();
            if on.peek().is_none() {
                elsewhere.push(&loaded.scenario);
            }
            for topology in on {
                for hits in numbers(args, &loaded.scenario) {
                    match place(subject, loaded, topology, (&args.subjects.promises, hits)) {
                        Ok(case) => cases.push(case),
                        Err(reason) => {
                            let labels = labels(&loaded.scenario, lock, topology, hits);
                            left_out.push((labels, reason));
                        }
                    }
                }
            }
        }
        let label = lock.bare_label();
        let ran = cases.iter().find(|case| case.labels.lock == label);
        if let Some(servers) = ran.map(|case| case.topology.clone()) {
            let labels = |scenario| labels(scenario, lock, &servers, None);
            let reason = "it means something on other servers only".to_owned();
            left_out.extend(
                elsewhere
                    .into_iter()
                    .map(|one| (labels(one), reason.clone())),
            );
        }
    }
    if cases.is_empty() {
        return Err(NothingSelected(nothing_left(&situations, &left_out)).into());
    }
    let seed = args.how.common.seed();
    let names: BTreeSet<&str> = cases.iter().map(|case| case.labels.lock.as_str()).collect();
    let names: Vec<&str> = names.into_iter().collect();
    Ok(RunPlan {
        name: "assess".to_owned(),
        description: format!("Assessment of {}.", names.join(", ")),
        seed,
        jobs: jobs(&cases, |case| args.repeat * repetitions(case), seed),
        left_out,
        suite: true,
        rerun: command(args, subjects, seed),
        out: args.how.common.out.clone(),
    })
}

/// Says why no situation is left.
fn nothing_left(situations: &[Loaded], left_out: &[(CaseLabels, String)]) -> String {
    if let Some((labels, reason)) = left_out.first() {
        let (hazard, topology) = (&labels.hazard, &labels.topology);
        return format!("no situation is left: not '{hazard}' on {topology}: {reason}");
    }
    let Some(situation) = situations.first() else {
        return "no situation is selected: --only takes a part of a name in `lockstorm list \
                situations`, or of one in reports"
            .to_owned();
    };
    let Scenario {
        name, situation, ..
    } = &situation.scenario;
    let servers = situation.iter().flat_map(|one| &one.topologies);
    let servers: Vec<&str> = servers.map(|servers| servers.kind().name()).collect();
    format!(
        "no situation is left: '{name}' is one for {}; --topology must name servers that it and \
         the lock can have, as `lockstorm list locks` says of locks",
        servers.join(", ")
    )
}

/// Puts the lock into the situation on these servers, or says why it cannot be.
fn place(
    subject: &Subject,
    loaded: &Loaded,
    topology: &Topology,
    (promised, hits): (&[Promise], Option<u32>),
) -> Result<Case, String> {
    let mut refused = subject.refused.iter();
    if let Some((_, reason)) = refused.find(|(kind, _)| *kind == topology.kind()) {
        return Err(reason.clone());
    }
    if let Some((_, why)) = wanting(&loaded.scenario).find(|(can, _)| subject.lacks(*can)) {
        return Err(why.to_owned());
    }
    let watchdogs = [Can::Watchdog, Can::SilentWatchdog, Can::AlwaysRenews];
    let has_watchdog = watchdogs.into_iter().any(|can| !subject.lacks(can));
    if subject.cannot_renew && tells_to_renew(&loaded.scenario, has_watchdog) {
        return Err("its library cannot extend a lease when it is told to".to_owned());
    }
    let ends = loaded.scenario.situation.as_ref();
    let ends = ends.and_then(|situation| situation.lease_ends);
    if ends == Some(LeaseEnds::WhileItsClientWorks) && subject.always_renews() {
        return Err("its library renews every lease, and one has to end here".to_owned());
    }
    let lock = &subject.lock;
    let mut case = put_into(loaded, lock, topology, promised, hits)?;
    // All situations of a lock stand in one row, whatever lease they take.
    case.labels.lock = lock.bare_label();
    Ok(case)
}

/// Abilities that this situation asks of a program, each with the reason that stands for one
/// that cannot.
fn wanting(scenario: &Scenario) -> impl Iterator<Item = (Can, &'static str)> {
    let has = |is_it: fn(&Step) -> bool| scenario.step.iter().any(is_it);
    let wanting = [
        (
            has(|step| matches!(step, Step::Cancel(_))),
            Can::Cancel,
            "its adapter cannot give a request up: it does not name 'cancel'",
        ),
        (
            scenario.situation.as_ref().is_some_and(|one| one.waited),
            Can::Wait,
            "its adapter does not wait by itself: it does not name 'wait'",
        ),
        (
            scenario.clients.identity.is_some(),
            Can::Identity,
            "its adapter cannot name the owner: it does not say 'identity'",
        ),
        (
            has(|step| {
                use lockstorm_scenarios::FaultSpec::{KillThread, StallWatchdog};
                matches!(step.fault(), Some(KillThread { .. } | StallWatchdog { .. }))
            }),
            Can::Watchdog,
            "it has no watchdog that its adapter can hold up: it does not name 'watchdog'",
        ),
    ];
    let wanted = wanting.into_iter().filter(|(is_wanted, ..)| *is_wanted);
    wanted.map(|(_, can, why)| (can, why))
}

/// Tells whether a client is told to extend its lease: by a step, or by the harness while it
/// works, where its library has no watchdog.
fn tells_to_renew(scenario: &Scenario, has_watchdog: bool) -> bool {
    let mut steps = scenario.step.iter();
    let situation = scenario.situation.as_ref();
    let is_renewed = situation.is_some_and(|situation| situation.renewed);
    is_renewed && !has_watchdog || steps.any(|step| matches!(step, Step::Renew(_)))
}

fn labels(scenario: &Scenario, lock: &Lock, topology: &Topology, hits: Option<u32>) -> CaseLabels {
    let hazard = scenario.hazard.as_ref().unwrap_or(&scenario.name);
    let situation = scenario.situation.as_ref();
    let all = situation.map_or(&[][..], |situation| &situation.hits);
    CaseLabels {
        lock: lock.bare_label(),
        topology: topology.label(),
        hazard: numbered_by_all(&numbered(hazard, hits), all),
    }
}

/// How often this is run, for each time that all is.
const fn repetitions(case: &Case) -> u32 {
    match case.workload {
        Workload::Litmus(_) => 1,
        Workload::Storm(..) => STORM_SEEDS,
    }
}

/// The exact command that repeats the whole.
fn command(args: &AssessArgs, subjects: &[Subject], seed: Seed) -> String {
    let mut words = vec![rerun::program(), "assess".to_owned()];
    words.extend(subjects.iter().map(|subject| subject.words.clone()));
    words.push(format!("--seed {}", seed.0));
    words.extend(args.subjects.words());
    let only = args.only.iter();
    words.extend(only.map(|text| format!("--only {}", quoted(text))));
    if args.repeat > 1 {
        words.push(format!("--repeat {}", args.repeat));
    }
    let files = args
        .situations
        .iter()
        .map(|path| quoted(&path.display().to_string()));
    words.extend(files.map(|path| format!("--situation {path}")));
    words.extend(args.hunt.map(|time| format!("--hunt {time}")));
    words.extend(args.how.words());
    words.join(" ")
}
