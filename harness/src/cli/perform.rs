//! Running a plan as the command line asks: servers, progress, reports, and the end.
//!
//! For: what `run` and `assess` have in common.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Error};
use clap::Args;
use lockstorm_reports::{Format, Formats, Outcome};

use super::baseline::Baseline;
use super::ci::{CiArgs, FailOn};
use super::common::CommonArgs;
use super::exit::{ExitCode, NothingSelected};
use super::interrupt::Interrupt;
use super::publish::{OutputFormat, publish};
use super::report::BudgetArgs;
use super::stream::{Event, Stream, tell};
use super::{descriptors, open, run_index};
use crate::plan::RunPlan;
use crate::process::note_secrets;
use crate::progress::{self, Both};
use crate::rerun::quoted;
use crate::run::{Finished, NetworkChoice, Networks, Pace, RunSettings};
use crate::server::find_redis_for;
use crate::usage_error::UsageError;
use crate::{output, run};

/// Files that are written into the folder of a run, unless others are named.
const USUAL_REPORT: &str = "html,png,junit,md";

/// How runs are carried out, and what is written of them.
#[derive(Debug, Args)]
pub struct HowArgs {
    #[command(flatten)]
    pub common: CommonArgs,
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
    pub ci: CiArgs,
    #[command(flatten)]
    pub budget: BudgetArgs,
    /// Open the page in a browser when it is written.
    #[arg(long)]
    pub open: bool,
    /// The network between servers and clients, where a scenario faults links.
    #[arg(long, value_enum, default_value_t, env = "LOCKSTORM_NETWORK")]
    pub network: NetworkChoice,
}

/// Runs of which it takes a while to draw all that there is to see.
const TAKES_A_WHILE: usize = 20;

/// Input that has to be right before anything runs.
pub struct Prepared {
    formats: Formats,
    baseline: Baseline,
}

/// End of a plan that was carried out.
pub struct End {
    interrupt: Option<ExitCode>,
    /// The worst of what is new, where only that counts.
    new: Option<Outcome>,
    files: Vec<PathBuf>,
    format: OutputFormat,
}

impl HowArgs {
    /// Reads what was typed, before anything else is done.
    ///
    /// # Errors
    /// When a report's format is unknown, or there is no baseline to be read.
    pub fn prepare(&self) -> Result<Prepared, Error> {
        if self.ci.fail_on == FailOn::New && self.baseline.is_none() {
            return Err(UsageError(FailOn::NO_BASELINE.to_owned()).into());
        }
        Ok(Prepared {
            formats: parse_formats(&self.report)?,
            baseline: Baseline::read(self.baseline.as_ref())?,
        })
    }

    /// Runs the plan, and then what `further` adds to it in its folder, prints it by `show`, and
    /// writes its reports.
    ///
    /// # Errors
    /// When the servers cannot be had, or a file cannot be written.
    pub fn perform(
        &self,
        mut plan: RunPlan,
        Prepared { formats, baseline }: Prepared,
        pace: Pace,
        further: impl AsyncFnOnce(&mut Finished, &Path, &RunSettings) -> Result<(), Error>,
        show: impl Fn(&Finished),
    ) -> Result<(Finished, End), Error> {
        if let Some(shard) = self.ci.shard {
            shard.keep(&mut plan.jobs);
            if plan.jobs.is_empty() {
                let text =
                    format!("no run is in part {shard} of all; there are fewer runs than parts");
                return Err(NothingSelected(text).into());
            }
        }
        for job in &plan.jobs {
            note_secrets(&job.case);
        }
        // First of all, for it takes a process of one thread.
        let cases = plan.jobs.iter().map(|job| &job.case);
        let networks = Networks::make_ready(self.network, cases)?;
        let topologies = plan.jobs.iter().map(|job| &job.case.topology);
        let program = find_redis_for(topologies, self.common.redis_server.as_deref())?;
        let folder = run::prepare(&plan)?;
        output::human(&format!(
            "seed {}, run folder {}",
            plan.seed.0,
            folder.display()
        ));
        if self.format == OutputFormat::JsonLines {
            tell(Event::Began {
                seed: plan.seed.0,
                folder: &folder,
                runs: plan.jobs.len(),
            });
        }
        descriptors::make_room();
        let runtime = tokio::runtime::Runtime::new().context("cannot start the runtime")?;
        let (finished, interrupt, added) = runtime.block_on(async {
            let interrupt = Interrupt::watch()?;
            let settings = RunSettings {
                program,
                port: self.common.port,
                networks,
                rerun_arguments: self.where_run(),
                interrupt: interrupt.token.clone(),
                progress: self.follow(plan.jobs.len()),
                overheard: None,
                timeout: self.ci.timeout.map(|time| time.0),
                spares: None,
            };
            let mut finished = run::execute(&plan, &folder, &settings, pace).await?;
            let added = further(&mut finished, &folder, &settings).await;
            baseline.note(&mut finished, &folder)?;
            Ok::<_, Error>((finished, interrupt, added))
        })?;
        let runs = plan.jobs.len();
        if runs >= TAKES_A_WHILE && !formats.is_empty() {
            output::human(&format!("draws the report of {runs} runs"));
        }
        let files = super::report::render(&folder, &formats, &self.budget.extent())?;
        if let Err(error) = run_index::list(&plan.out) {
            // A convenience that no run depends on.
            output::human(&error.to_string());
        }
        show(&finished);
        let record = finished.record();
        let only_new = self.ci.fail_on == FailOn::New;
        let known = baseline.known().filter(|_| only_new);
        publish(&record, known.as_ref(), &folder, self.format)?;
        for line in written(&files) {
            output::human(&line);
        }
        if self.open {
            open::page(&folder);
        }
        // What was run before is told all the same.
        added?;
        let end = End {
            interrupt: interrupt.code(),
            new: known.map(|known| known.outcome_of_new(&record)),
            files,
            format: self.format,
        };
        Ok((finished, end))
    }

    /// Follows the runs: for people as asked, and for machines where a stream is asked for.
    fn follow(&self, runs: usize) -> Arc<dyn progress::Progress> {
        let shown: Arc<dyn progress::Progress> = progress::show(self.common.progress, runs).into();
        if self.format == OutputFormat::JsonLines {
            Arc::new(Both(shown, Arc::new(Stream)))
        } else {
            shown
        }
    }

    /// Returns the arguments by which a command repeats the runs, beside the seed.
    pub fn words(&self) -> Vec<String> {
        let mut words = self.common.at_once();
        words.extend(self.where_run());
        let timeout = self.ci.timeout.iter();
        words.extend(timeout.map(|time| format!("--timeout {time}")));
        if self.report != USUAL_REPORT {
            words.push(format!("--report {}", quoted(&self.report)));
        }
        words.extend(self.common.folder());
        words
    }

    /// Returns the arguments that say which servers a command takes, and what is between them.
    fn where_run(&self) -> Vec<String> {
        let mut words = self.common.servers();
        words.extend(self.network.flag().map(str::to_owned));
        words
    }
}

impl End {
    /// Returns the exit code of the program, and tells it to those who follow the stream.
    ///
    /// # Errors
    /// The error that ended the plan early, if one did.
    pub fn conclude(self, finished: Finished, code: ExitCode) -> Result<ExitCode, Error> {
        let outcome: Outcome = finished.outcome();
        let code = match self.new.map(ExitCode::from) {
            Some(new) if new != code => {
                output::human(&format!(
                    "only failures that the baseline does not have count: exit code {} instead \
                     of {}",
                    new.number(),
                    code.number()
                ));
                new
            }
            Some(_) | None => code,
        };
        let code = match finished {
            Finished::Suite(_, Some(error)) => Err(Error::from(error)),
            Finished::Run(_) | Finished::Suite(_, None) => Ok(self.interrupt.unwrap_or(code)),
        };
        if self.format == OutputFormat::JsonLines {
            let code = code.as_ref().map_or_else(ExitCode::of, |code| *code);
            tell(Event::Ended {
                outcome,
                exit_code: code.number(),
                files: &self.files,
            });
        }
        code
    }
}

/// Says where the files of a report are: its page, or each of them where there is none.
pub(super) fn written(files: &[PathBuf]) -> Vec<String> {
    let is_page = |path: &&PathBuf| path.extension().is_some_and(|end| end == "html");
    match (files.iter().find(is_page), files.len().saturating_sub(1)) {
        (None, _) => files
            .iter()
            .map(|path| format!("file     {}", path.display()))
            .collect(),
        (Some(page), 0) => vec![format!("page     {}", page.display())],
        (Some(page), others) => {
            let word = if others == 1 { "file" } else { "files" };
            vec![format!(
                "page     {} ({others} {word} beside it)",
                page.display()
            )]
        }
    }
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
