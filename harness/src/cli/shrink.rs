//! `lockstorm shrink`.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, Error};
use clap::Args;
use lockstorm_checker::{Property, Verdict};
use lockstorm_reports::{RunRecord, read_run};
use lockstorm_scenarios::{Case, DurationSpec, FaultKind, Workload, effective, expand, load};

use super::common::CommonArgs;
use super::descriptors;
use super::examples;
use super::exit::ExitCode;
use super::interrupt::Interrupt;
use crate::folder::SCENARIO;
use crate::hunt::{Abilities, Limits, Quarry, Shrunk, alike, reproduce, shorten};
use crate::output;
use crate::progress;
use crate::run::{NetworkChoice, Networks, RunSettings};
use crate::server::find_redis_for;
use crate::usage_error::UsageError;

/// Name of the file that is written, in the folder of the run.
const SHRUNK: &str = "shrunk.toml";

/// Arguments of `lockstorm shrink`.
#[derive(Debug, Args)]
#[command(after_help = examples::SHRINK)]
pub struct ShrinkArgs {
    /// Folder of a run in which something was violated.
    #[arg(value_name = "RUN")]
    pub run: PathBuf,
    /// Property that the script is to violate; the first that the run has violated unless you say.
    #[arg(long)]
    pub property: Option<Property>,
    /// File to write; `shrunk.toml` in the folder of the run unless you say.
    #[arg(long, value_name = "FILE")]
    pub to: Option<PathBuf>,
    /// Time for looking for a script that does what a storm did; making a script shorter takes as
    /// long at most.
    #[arg(long = "for", default_value = "3m", value_name = "TIME")]
    pub time: DurationSpec,
    /// Faults of the script at most.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=4))]
    pub faults: u8,
    #[command(flatten)]
    pub common: CommonArgs,
}

/// Shrinks a run: the script of a litmus is made shorter, and for a storm one is looked for.
///
/// # Errors
/// When the run cannot be read or violated nothing, or the servers cannot be had.
pub fn execute(args: &ShrinkArgs) -> Result<ExitCode, Error> {
    let record = read_run(&args.run)?;
    let property = violated(&record, args.property)?;
    let case = case_of(args)?;
    let program = find_redis_for([&case.topology], args.common.redis_server.as_deref())?;
    descriptors::make_room();
    let seed = args.common.seed();
    let limits = Limits {
        faults: args.faults.into(),
        time: args.time.0,
        at_once: args
            .common
            .jobs_or(super::hunt::usual_jobs([&case.topology].into_iter())),
        seed,
    };
    let folder = args.run.join(format!(".shrink-{}", std::process::id()));
    let runtime = tokio::runtime::Runtime::new().context("cannot start the runtime")?;
    let (shrunk, ended) = runtime.block_on(async {
        let interrupt = Interrupt::watch()?;
        let settings = RunSettings {
            program,
            port: args.common.port,
            // A script that is looked for faults messages, whatever network the storm had.
            networks: Networks::make_ready(NetworkChoice::Fabric, [])?,
            rerun_arguments: args.common.servers(),
            interrupt: interrupt.token.clone(),
            progress: Arc::from(progress::show(args.common.progress, 0)),
            overheard: None,
            timeout: None,
            spares: None,
        };
        let place = (folder.as_path(), &settings);
        let shrunk = match case.workload {
            Workload::Litmus(_) => shorten(case, property, limits, place).await,
            Workload::Storm(..) => {
                let kinds = blamed(&record, property);
                let quarry = quarry(&case);
                reproduce(&quarry, property, &alike(&kinds), limits, place).await
            }
        };
        Ok::<_, Error>((shrunk?, interrupt.code()))
    })?;
    let _ = fs::remove_dir_all(&folder);
    if let Some(shrunk) = shrunk {
        return keep(args, property, shrunk, ended);
    }
    let why = match ended {
        Some(_) => "it was interrupted",
        None => "give it more time (--for) or faults (--faults)",
    };
    output::human(&format!(
        "no script was found that violates {}: {why}",
        property.name()
    ));
    Ok(ended.unwrap_or(ExitCode::Unknown))
}

/// The lock of a storm, on servers of its own.
fn quarry(case: &Case) -> Quarry {
    let abilities = Abilities {
        cancel: !case.lock.is_foreign(),
        watchdog: true,
    };
    Quarry::new(&case.lock, &case.topology, None, (abilities, true), &[])
}

/// The property that is to be violated.
fn violated(record: &RunRecord, wanted: Option<Property>) -> Result<Property, UsageError> {
    let judged = record.analysis.properties.iter();
    let violated = judged.filter(|(_, judged)| judged.verdict == Verdict::Violated);
    let mut violated = violated.map(|(property, _)| *property);
    match wanted {
        None => violated
            .next()
            .ok_or_else(|| UsageError("the run violated nothing".to_owned())),
        Some(property) if violated.any(|one| one == property) => Ok(property),
        Some(property) => {
            let name = property.name();
            Err(UsageError(format!("the run did not violate {name}")))
        }
    }
}

/// Kinds of the faults that are blamed for its violations.
fn blamed(record: &RunRecord, property: Property) -> Vec<FaultKind> {
    let judged = record.analysis.properties.get(&property);
    let witnesses = judged.iter().flat_map(|judgement| &judgement.witnesses);
    let blamed: Vec<&String> = witnesses.flat_map(|witness| &witness.blamed).collect();
    let faults = record.analysis.faults.iter();
    let faults = faults.filter(|fault| blamed.contains(&&fault.id));
    let kind = |word: &str| {
        let mut all = FaultKind::ALL.iter().copied();
        all.find(|kind| kind.name() == word)
    };
    faults.filter_map(|fault| kind(&fault.kind)).collect()
}

/// The case that was run.
fn case_of(args: &ShrinkArgs) -> Result<Case, Error> {
    let loaded = load(&args.run.join(SCENARIO), &[])?;
    let case = expand(&loaded)?.cases.into_iter().next();
    let case = case.context("the scenario of the run has no case")?;
    if case.topology.external().is_some() {
        let text = "a run on servers that someone else runs cannot be shrunk: run it on servers of \
                    the same shape first";
        return Err(UsageError(text.to_owned()).into());
    }
    Ok(case)
}

/// Writes the script. One that does not do it each time is told from one that does.
fn keep(
    args: &ShrinkArgs,
    property: Property,
    shrunk: Shrunk,
    ended: Option<ExitCode>,
) -> Result<ExitCode, Error> {
    let path = args.to.clone().unwrap_or_else(|| args.run.join(SHRUNK));
    let (name, times, runs) = (property.name(), shrunk.times, shrunk.runs);
    let is_reliable = shrunk.is_reliable();
    let case = Case {
        name: format!("shrunk-{name}"),
        description: format!(
            "The shortest script that was found to violate {name}, in {times} of {runs} runs."
        ),
        ..shrunk.case
    };
    fs::write(&path, effective(&case))
        .with_context(|| format!("cannot write '{}'", path.display()))?;
    output::human(&format!(
        "{name} violated in {times} of {runs} runs by a script of {} steps: {}",
        shrunk.steps,
        path.display()
    ));
    let code = if is_reliable {
        ExitCode::AsExpected
    } else {
        ExitCode::Unknown
    };
    Ok(ended.unwrap_or(code))
}
