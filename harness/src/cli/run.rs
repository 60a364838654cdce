//! `lockstorm run`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Error};
use clap::{Args, ValueEnum};
use lockstorm_reports::{Format, Formats};
use lockstorm_scenarios::{
    Case, Origin, Override, Trace, with_password_variable, without_passwords,
};

use super::baseline::Baseline;
use super::exit::{ExitCode, NothingSelected};
use super::interrupt::Interrupt;
use super::publish::{OutputFormat, publish};
use super::report::BudgetArgs;
use super::stream::{Event, Stream, tell};
use super::{descriptors, open, run_index};
use crate::plan::{Job, RunPlan, jobs, one_paragraph};
use crate::process::note_secrets;
use crate::progress::{self, Both, ProgressKind};
use crate::rerun::{self, quoted};
use crate::run::{Finished, NetworkChoice, Networks, Pace, RunSettings};
use crate::seed::Seed;
use crate::server::{DEFAULT_PORT, Program, find_program};
use crate::usage_error::UsageError;
use crate::{output, run};

/// Folder of runs, unless another one is named.
const USUAL_OUT: &str = "runs";
/// Files that are written into the folder of a run, unless others are named.
const USUAL_REPORT: &str = "html,png,junit,md";

/// Arguments of `lockstorm run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Scenario files.
    #[arg(required = true, value_name = "SCENARIO.toml")]
    pub scenarios: Vec<PathBuf>,
    /// Seed of every choice; drawn and printed when absent.
    #[arg(long)]
    pub seed: Option<u64>,
    /// Run everything this many times.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repeat: u32,
    /// Folder of runs.
    #[arg(
        long,
        default_value = USUAL_OUT,
        env = "LOCKSTORM_OUT",
        value_name = "DIR"
    )]
    pub out: PathBuf,
    /// Content of standard output.
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
    /// Files to write into the run folder, joined by commas: html, png, svg, junit, md, or none.
    #[arg(long, default_value = USUAL_REPORT, value_name = "LIST")]
    pub report: String,
    /// Say what changed against this earlier run or suite: its folder, or its results.json.
    #[arg(long, value_name = "DIR")]
    pub baseline: Option<PathBuf>,
    #[command(flatten)]
    pub budget: BudgetArgs,
    /// Open the page in a browser when it is written.
    #[arg(long)]
    pub open: bool,
    /// Replace a value of the scenario, such as `lock.token.lease=1s`; may be repeated.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub overrides: Vec<String>,
    /// Run this many at once, each on servers of its own. They share the machine: for figures,
    /// leave it at one.
    #[arg(long, short, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub jobs: u16,
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
    /// The server program.
    #[arg(long, env = "LOCKSTORM_REDIS_SERVER", value_name = "PATH")]
    pub redis_server: Option<PathBuf>,
    /// Port of all servers, each on a loopback address of its own.
    #[arg(long, default_value_t = DEFAULT_PORT, env = "LOCKSTORM_PORT",
        value_parser = clap::value_parser!(u16).range(1..))]
    pub port: u16,
    /// The network between servers and clients, where a scenario faults links.
    #[arg(long, value_enum, default_value_t, env = "LOCKSTORM_NETWORK")]
    pub network: NetworkChoice,
    /// Form in which progress is shown.
    #[arg(long, value_enum, default_value_t, env = "LOCKSTORM_PROGRESS")]
    pub progress: ProgressKind,
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
    let formats = parse_formats(&args.report)?;
    let baseline = Baseline::read(args.baseline.as_ref())?;
    let plan = make_plan(args)?;
    for job in &plan.jobs {
        note_secrets(&job.case);
    }
    // First of all, for it takes a process of one thread.
    let networks = Networks::make_ready(args.network, plan.jobs.iter().map(|job| &job.case))?;
    let starts_servers = |job: &Job| job.case.topology.external().is_none();
    let program = if plan.jobs.iter().any(starts_servers) {
        find_program(args.redis_server.as_deref())?
    } else {
        Program::none()
    };
    let folder = run::prepare(&plan)?;
    output::human(&format!(
        "seed {}, run folder {}",
        plan.seed.0,
        folder.display()
    ));
    if args.format == OutputFormat::JsonLines {
        tell(Event::Began {
            seed: plan.seed.0,
            folder: &folder,
            runs: plan.jobs.len(),
        });
    }
    descriptors::make_room();
    let runtime = tokio::runtime::Runtime::new().context("cannot start the runtime")?;
    let (finished, interrupt) = runtime.block_on(async {
        let interrupt = Interrupt::watch()?;
        let progress = follow(args, plan.jobs.len());
        let settings = RunSettings {
            program,
            port: args.port,
            networks,
            ground: ground(args),
            interrupt: interrupt.token.clone(),
            progress,
        };
        let pace = Pace {
            at_once: args.jobs.into(),
            fail_fast: args.fail_fast,
        };
        let mut finished = run::execute(&plan, &folder, &settings, pace).await?;
        baseline.note(&mut finished, &folder)?;
        Ok::<_, Error>((finished, interrupt))
    })?;
    show(&finished);
    publish(&finished.record(), &folder, args.format)?;
    let files = super::report::render(&folder, &formats, &args.budget.extent())?;
    for path in &files {
        output::human(&format!("report   {}", path.display()));
    }
    match run_index::list(&plan.out) {
        Ok(index) => output::human(&format!("all runs {}", index.display())),
        // A convenience that no run depends on.
        Err(error) => output::human(&error.to_string()),
    }
    if args.open {
        open::page(&folder);
    }
    conclude(args, finished, &interrupt, &files)
}

/// Returns the exit code of the program, and tells it to those who follow the stream.
fn conclude(
    args: &RunArgs,
    finished: Finished,
    interrupt: &Interrupt,
    files: &[PathBuf],
) -> Result<ExitCode, Error> {
    let outcome = finished.outcome();
    let code = match finished {
        Finished::Suite(_, Some(error)) => Err(Error::from(error)),
        Finished::Run(_) | Finished::Suite(_, None) => {
            Ok(interrupt.code().unwrap_or_else(|| outcome.into()))
        }
    };
    if args.format == OutputFormat::JsonLines {
        let code = code.as_ref().map_or_else(ExitCode::of, |code| *code);
        tell(Event::Ended {
            outcome,
            exit_code: code.number(),
            files,
        });
    }
    code
}

/// Turns what was typed into what it means.
fn make_plan(args: &RunArgs) -> Result<RunPlan, Error> {
    let overrides = args
        .overrides
        .iter()
        .map(|text| text.parse::<Override>())
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| UsageError(without_passwords(&error.to_string())))?;
    let mut cases = Vec::new();
    let mut left_out = Vec::new();
    let mut names = Vec::new();
    let mut is_matrix = false;
    for path in &args.scenarios {
        let loaded = lockstorm_scenarios::load(path, &overrides)?;
        let scenario = &loaded.scenario;
        is_matrix |= scenario.matrix.is_some();
        names.push((scenario.name.clone(), one_paragraph(&scenario.description)));
        let expanded = lockstorm_scenarios::expand(&loaded)?;
        cases.extend(expanded.cases);
        left_out.extend(expanded.left_out);
    }
    if let Some(text) = &args.filter {
        cases.retain(|case| matches_filter(case, text));
        left_out.clear();
    }
    if cases.is_empty() {
        return Err(NothingSelected("no run is selected; see --filter and [matrix]".into()).into());
    }
    let asks = args.trace.iter().any(|kind| kind.trace().is_some());
    if asks && cases.iter().any(|case| case.topology.external().is_some()) {
        let text = "--trace takes KEYS and MONITOR, which touch all that external servers have: \
                    leave it out";
        return Err(UsageError(text.to_owned()).into());
    }
    if !args.trace.is_empty() {
        for case in &mut cases {
            case.trace = args.trace.iter().filter_map(|kind| kind.trace()).collect();
            case.origins.note("trace", Origin::CommandLine);
        }
    }
    let seed = args.seed.map_or_else(Seed::fresh, Seed);
    let suite = is_matrix || cases.len() > 1 || args.repeat > 1;
    let (name, description) = match names.as_slice() {
        [only] => only.clone(),
        _ => ("suite".to_owned(), String::new()),
    };
    let rerun = command(args, seed);
    let mut jobs = jobs(&cases, args.repeat, seed);
    if !suite {
        jobs[0].rerun = Some(rerun.clone());
    }
    Ok(RunPlan {
        name,
        description,
        seed,
        jobs,
        left_out,
        suite,
        rerun,
        out: args.out.clone(),
    })
}

fn matches_filter(case: &Case, text: &str) -> bool {
    let labels = &case.labels;
    format!(
        "{} {} {} {}",
        case.name, labels.lock, labels.topology, labels.hazard
    )
    .contains(text)
}

/// The exact command that repeats the whole.
fn command(args: &RunArgs, seed: Seed) -> String {
    let path = |path: &Path| quoted(&path.display().to_string());
    // Whoever repeats it knows the passwords; whoever reads it need not.
    let shown = |text: &String| quoted(&with_password_variable(text));
    let mut words = vec![rerun::program(), "run".to_owned()];
    words.extend(args.scenarios.iter().map(|scenario| path(scenario)));
    words.push(format!("--seed {}", seed.0));
    if args.repeat > 1 {
        words.push(format!("--repeat {}", args.repeat));
    }
    if args.jobs > 1 {
        words.push(format!("--jobs {}", args.jobs));
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
    let filter = args.filter.iter();
    words.extend(filter.map(|text| format!("--filter {}", quoted(text))));
    words.extend(ground(args));
    if args.report != USUAL_REPORT {
        words.push(format!("--report {}", quoted(&args.report)));
    }
    if args.out != Path::new(USUAL_OUT) {
        words.push(format!("--out {}", path(&args.out)));
    }
    words.join(" ")
}

/// Returns the arguments that say which servers a command takes, and what is between them.
fn ground(args: &RunArgs) -> Vec<String> {
    let server = args.redis_server.iter();
    let path = |program: &PathBuf| quoted(&program.display().to_string());
    let mut words: Vec<String> = server
        .map(|program| format!("--redis-server {}", path(program)))
        .collect();
    words.extend(args.network.flag().map(str::to_owned));
    if args.port != DEFAULT_PORT {
        words.push(format!("--port {}", args.port));
    }
    words
}

/// Reads a list such as `html,png`.
pub fn parse_formats(list: &str) -> Result<Formats, UsageError> {
    list.split(',')
        .map(str::trim)
        .filter(|word| !word.is_empty() && *word != "none")
        .map(|word| {
            word.parse::<Format>()
                .map_err(|error| UsageError(error.to_string()))
        })
        .collect()
}

/// Prints the result for people.
fn show(finished: &Finished) {
    output::painted(&match finished {
        Finished::Run(record) => lockstorm_reports::terminal_run(record, output::terminal()),
        Finished::Suite(suite, _) => lockstorm_reports::terminal_suite(suite, output::terminal()),
    });
}

/// Follows the runs: for people as asked, and for machines where a stream is asked for.
fn follow(args: &RunArgs, runs: usize) -> Arc<dyn progress::Progress> {
    let shown: Arc<dyn progress::Progress> = progress::show(args.progress, runs).into();
    if args.format == OutputFormat::JsonLines {
        Arc::new(Both(shown, Arc::new(Stream)))
    } else {
        shown
    }
}
