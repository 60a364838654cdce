//! `lockstorm run`.

use std::path::{Path, PathBuf};

use anyhow::Error;
use clap::{Args, ValueEnum};
use clap_complete::engine::ArgValueCompleter;
use lockstorm_scenarios::{
    Case, Origin, Override, Trace, with_password_variable, without_passwords,
};

use super::ci::counts_runs;
use super::completion;
use super::examples;
use super::exit::{ExitCode, NothingSelected};
use super::perform::HowArgs;
use crate::output::{self, Stream};
use crate::plan::{RunPlan, jobs, one_paragraph};
use crate::rerun::{self, quoted};
use crate::run::{Finished, Pace, RunSettings};
use crate::seed::Seed;
use crate::usage_error::UsageError;

/// Arguments of `lockstorm run`.
#[derive(Debug, Args)]
#[command(after_help = examples::RUN)]
pub struct RunArgs {
    /// Scenario files, or scenarios that the program carries, by name: see `lockstorm list
    /// scenarios`.
    #[arg(
        required = true,
        value_name = "SCENARIO",
        add = ArgValueCompleter::new(completion::scenarios)
    )]
    pub scenarios: Vec<PathBuf>,
    /// Run everything this many times.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repeat: u32,
    /// Replace a value of the scenario, such as `lock.token.lease=1s`; may be repeated.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub overrides: Vec<String>,
    /// Ask the servers themselves, for the stories of violations: probe, monitor, or both joined by
    /// a comma; beside what the scenario asks.
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    pub trace: Vec<TraceKind>,
    /// Run only the cells whose `scenario lock topology hazard` contains this text.
    #[arg(long, value_name = "TEXT")]
    pub filter: Option<String>,
    /// End after the first run that is not as expected.
    #[arg(long)]
    pub fail_fast: bool,
    #[command(flatten)]
    pub how: HowArgs,
}

/// Evidence that servers are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TraceKind {
    /// State of each lock on each server, after each step and in storms from time to time.
    Probe,
    /// Commands that each server is given.
    Monitor,
    /// Nothing.
    None,
}

impl TraceKind {
    /// Returns the evidence that servers are asked for; `None` for nothing.
    const fn trace(self) -> Option<Trace> {
        match self {
            Self::Probe => Some(Trace::Probe),
            Self::Monitor => Some(Trace::Monitor),
            Self::None => None,
        }
    }

    const fn name(self) -> &'static str {
        match self.trace() {
            Some(trace) => trace.name(),
            None => "none",
        }
    }
}

/// Runs the scenarios.
///
/// # Errors
/// When a scenario is wrong, or the servers cannot be had.
pub fn execute(args: &RunArgs) -> Result<ExitCode, Error> {
    let prepared = args.how.prepare()?;
    let plan = make_plan(args)?;
    let pace = Pace {
        at_once: args.how.common.jobs_or(1),
        fail_fast: args.fail_fast,
        retries: args.how.ci.retries,
    };
    let nothing = async |_: &mut Finished, _: &Path, _: &RunSettings| Ok(());
    let (finished, end) = args.how.perform(plan, prepared, pace, nothing, show)?;
    let code = ExitCode::from(finished.outcome());
    end.conclude(finished, code)
}

/// Prints the result for people.
fn show(finished: &Finished) {
    output::painted(&match finished {
        Finished::Run(record) => lockstorm_reports::terminal_run(record, Stream::Error.layout()),
        Finished::Suite(suite, _) => {
            lockstorm_reports::terminal_suite(suite, Stream::Error.layout())
        }
    });
}

/// Turns what was typed into what it means.
fn make_plan(args: &RunArgs) -> Result<RunPlan, Error> {
    let overrides = args
        .overrides
        .iter()
        .map(|text| text.parse::<Override>())
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| UsageError(without_passwords(&error.to_string())))?;
    let mut selected = Vec::new();
    let mut left_out = Vec::new();
    let mut names = Vec::new();
    let mut is_matrix = false;
    for path in &args.scenarios {
        let loaded = lockstorm_scenarios::open(path, &overrides)?;
        let scenario = &loaded.scenario;
        is_matrix |= scenario.matrix.is_some();
        names.push((scenario.name.clone(), one_paragraph(&scenario.description)));
        let expanded = lockstorm_scenarios::expand(&loaded)?;
        selected.extend(alone(path, expanded.cases));
        left_out.extend(expanded.left_out);
    }
    if let Some(text) = &args.filter {
        selected.retain(|(case, _)| cell(case).contains(text.as_str()));
        left_out.clear();
    }
    if selected.is_empty() {
        return Err(NothingSelected("no run is selected; see --filter and [matrix]".into()).into());
    }
    let (mut cases, alone): (Vec<Case>, Vec<_>) = selected.into_iter().unzip();
    let asked = args.trace.iter().filter_map(|kind| kind.trace());
    let mut refused = asked.flat_map(|trace| cases.iter().map(move |case| (trace, case)));
    if let Some(why) = refused.find_map(|(trace, case)| case.topology.refuses(trace)) {
        return Err(UsageError(format!("--trace must be left out: {why}")).into());
    }
    if !args.trace.is_empty() {
        for case in &mut cases {
            case.trace = args.trace.iter().filter_map(|kind| kind.trace()).collect();
            case.origins.note("trace", Origin::CommandLine);
        }
    }
    let seed = args.how.common.seed();
    let suite = is_matrix || cases.len() > 1 || args.repeat > 1 || cases.iter().any(counts_runs);
    let (name, description) = match names.as_slice() {
        [only] => only.clone(),
        _ => ("suite".to_owned(), String::new()),
    };
    let rerun = command(args, &Selection::of(args), seed);
    let mut jobs = jobs(&cases, |_| args.repeat, seed);
    for (job, one) in jobs.iter_mut().zip(alone.iter().cycle()) {
        job.rerun = if suite {
            one.as_ref().map(|one| command(args, one, job.seed))
        } else {
            Some(rerun.clone())
        };
    }
    Ok(RunPlan {
        name,
        description,
        seed,
        jobs,
        left_out,
        suite,
        rerun,
        out: args.how.common.out.clone(),
    })
}

/// Text of a case in which `--filter` looks for its own.
fn cell(case: &Case) -> String {
    let labels = &case.labels;
    format!(
        "{} {} {} {}",
        case.name, labels.lock, labels.topology, labels.hazard
    )
}

/// Runs that a command selects, by what is typed.
struct Selection {
    scenarios: Vec<PathBuf>,
    filter: Option<String>,
    repeat: u32,
}

impl Selection {
    /// Those that were asked for.
    fn of(args: &RunArgs) -> Self {
        Self {
            scenarios: args.scenarios.clone(),
            filter: args.filter.clone(),
            repeat: args.repeat,
        }
    }
}

/// The cases of a file, each with what selects it and no other; `None` where no filter does.
fn alone(path: &Path, cases: Vec<Case>) -> Vec<(Case, Option<Selection>)> {
    let cells: Vec<String> = cases.iter().map(cell).collect();
    let selection = |own: &String| {
        let alike = cells.iter().filter(|cell| cell.contains(own));
        (alike.count() == 1).then(|| Selection {
            scenarios: vec![path.to_owned()],
            filter: (cells.len() > 1).then(|| own.clone()),
            repeat: 1,
        })
    };
    let selections: Vec<_> = cells.iter().map(selection).collect();
    cases.into_iter().zip(selections).collect()
}

/// The exact command that repeats what is selected.
fn command(args: &RunArgs, selected: &Selection, seed: Seed) -> String {
    let path = |path: &PathBuf| quoted(&path.display().to_string());
    // Whoever repeats it knows the passwords; whoever reads it need not.
    let shown = |text: &String| quoted(&with_password_variable(text));
    let mut words = vec![rerun::program(), "run".to_owned()];
    words.extend(selected.scenarios.iter().map(path));
    words.push(format!("--seed {}", seed.0));
    if selected.repeat > 1 {
        words.push(format!("--repeat {}", selected.repeat));
    }
    if args.fail_fast {
        words.push("--fail-fast".to_owned());
    }
    let overrides = args.overrides.iter();
    words.extend(overrides.map(|text| format!("--set {}", shown(text))));
    words.extend(
        args.trace
            .iter()
            .map(|kind| format!("--trace {}", kind.name())),
    );
    let filter = selected.filter.iter();
    words.extend(filter.map(|text| format!("--filter {}", quoted(text))));
    words.extend(args.how.words());
    words.join(" ")
}
