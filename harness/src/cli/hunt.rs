//! `lockstorm hunt`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::available_parallelism;

use anyhow::{Context as _, Error};
use clap::Args;
use lockstorm_reports::{
    Extent, Format, Formats, HTML_BUDGET_DEFAULT, HUNT_VERSION, HuntRecord, Hunted, terminal_hunt,
    write_hunt,
};
use lockstorm_scenarios::{DurationSpec, Promise, TopologyKind};

use super::exit::ExitCode;
use super::ground::GroundArgs;
use super::interrupt::Interrupt;
use super::subject::{Programs, Subject, promise};
use super::topologies::{startable_topologies, startable_topology};
use super::{descriptors, report};
use crate::adapter::Can;
use crate::clock::wall_clock;
use crate::conformance::usual_servers;
use crate::environment_error::EnvironmentError;
use crate::hunt::{Abilities, Limits, Quarry, Store, account, folder_of, search};
use crate::rerun;
use crate::run::{NetworkChoice, Networks, RunSettings};
use crate::seed::Seed;
use crate::server::{Program, find_program};
use crate::{folder, output, progress};

/// Trials at once for each core: most of a trial is waiting.
const JOBS_PER_CORE: usize = 8;

/// Arguments of `lockstorm hunt`.
#[derive(Debug, Args)]
pub struct HuntArgs {
    /// Locks by name, as in `lockstorm list locks`, or with options, such as
    /// `redisson={era="3.10"}`.
    #[arg(value_name = "LOCK")]
    pub locks: Vec<String>,
    /// The program that drives a library's lock, with its arguments; may be repeated.
    #[arg(long = "adapter", value_name = "COMMAND")]
    pub adapters: Vec<String>,
    /// Promises that the locks make beside those that are known of them, joined by commas.
    #[arg(long = "promise", value_delimiter = ',', value_name = "LIST", value_parser = promise)]
    pub promises: Vec<Promise>,
    /// Only on these servers, joined by commas: single, replicated, sentinel, cluster, independent.
    #[arg(long = "topology", value_delimiter = ',', value_name = "LIST",
        value_parser = startable_topology)]
    pub topologies: Vec<TopologyKind>,
    /// Time for the trials of each lock on each kind of servers; shrinking comes on top.
    #[arg(long = "for", default_value = "2m", value_name = "TIME")]
    pub time: DurationSpec,
    /// Faults of one trial at most.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=4))]
    pub faults: u8,
    /// Lease of the locks, by which all times of a trial are measured; 400ms, or 1s for a library
    /// and for a lock that knows whole seconds only, unless you say.
    #[arg(long, value_name = "TIME")]
    pub lease: Option<DurationSpec>,
    /// Go on with a hunt that was ended: its folder. The other arguments must be the same.
    #[arg(long, value_name = "DIR")]
    pub resume: Option<PathBuf>,
    #[command(flatten)]
    pub ground: GroundArgs,
}

/// Hunts the locks.
///
/// # Errors
/// When a lock is unknown, or the servers cannot be had.
pub fn execute(args: &HuntArgs) -> Result<ExitCode, Error> {
    let kinds: Vec<TopologyKind> = if args.topologies.is_empty() {
        startable_topologies().collect()
    } else {
        args.topologies.clone()
    };
    let programs = Programs {
        wanted: &kinds,
        promises: &args.promises,
        ground: &args.ground,
    };
    let subjects = Subject::all(&args.locks, &args.adapters, &programs)?;
    let program = find_program(args.ground.redis_server.as_deref())?;
    let seed = args.ground.seed();
    let folder = match &args.resume {
        Some(folder) => folder.clone(),
        None => folder::create(&args.ground.out, "hunt", wall_clock(), seed)?,
    };
    let started = wall_clock().to_string();
    output::human(&format!("seed {}, folder {}", seed.0, folder.display()));
    descriptors::make_room();
    let quarries: Vec<Quarry> = subjects
        .iter()
        .flat_map(|subject| kinds.iter().filter_map(|kind| quarry(subject, *kind, args)))
        .collect();
    let runtime = tokio::runtime::Runtime::new().context("cannot start the runtime")?;
    let (hunts, interrupt) = runtime.block_on(async {
        let interrupt = Interrupt::watch()?;
        let settings = settings(args, program.clone(), &interrupt)?;
        let mut hunts = Vec::new();
        for quarry in &quarries {
            if interrupt.token.is_cancelled() {
                break;
            }
            hunts.push(hunt(quarry, seed, args, &folder, &settings).await?);
        }
        Ok::<_, Error>((hunts, interrupt))
    })?;
    let record = HuntRecord {
        version: HUNT_VERSION,
        seed: seed.0,
        started,
        rerun: command(args, &subjects, seed),
        folder: folder.display().to_string(),
        server: program.version.clone(),
        hunts,
    };
    render_findings(&record, &folder)?;
    output::painted(&terminal_hunt(&record, output::terminal()));
    for path in write_hunt(&folder, &record)? {
        output::human(&format!("report   {}", path.display()));
    }
    Ok(interrupt.code().unwrap_or_else(|| code(&record)))
}

/// Trials at once, unless somebody says.
pub(super) fn usual_jobs() -> usize {
    JOBS_PER_CORE * available_parallelism().map_or(1, usize::from)
}

/// Only a promise that a lock makes, and broke each time again, fails.
fn code(record: &HuntRecord) -> ExitCode {
    let found = record.hunts.iter().flat_map(|hunted| &hunted.found);
    let mut broken = found.filter(|one| one.is_promised && one.is_confirmed());
    let has_told = |hunted: &Hunted| hunted.sizes.iter().any(|size| size.told > 0);
    if broken.next().is_some() {
        ExitCode::Unexpected
    } else if record.hunts.iter().any(has_told) {
        ExitCode::AsExpected
    } else {
        ExitCode::Unknown
    }
}

/// A lock on servers of a kind, if it can be there.
fn quarry(subject: &Subject, kind: TopologyKind, args: &HuntArgs) -> Option<Quarry> {
    let is_refused = subject.refused.iter().any(|(refused, _)| *refused == kind);
    if is_refused || !subject.lock.kind().supports(kind) {
        return None;
    }
    let abilities = Abilities {
        cancel: !subject.lacks(Can::Cancel),
        watchdog: !subject.lacks(Can::Watchdog),
    };
    let can = (abilities, !subject.cannot_renew);
    let servers = usual_servers(kind);
    Some(Quarry::new(&subject.lock, &servers, args.lease, can))
}

async fn hunt(
    quarry: &Quarry,
    seed: Seed,
    args: &HuntArgs,
    hunt: &Path,
    settings: &RunSettings,
) -> Result<Hunted, Error> {
    let limits = Limits {
        faults: args.faults.into(),
        time: args.time.0,
        at_once: args.ground.jobs_or(usual_jobs()),
        seed,
    };
    let folder = folder_of(quarry, hunt);
    let mut store = Store::open(&folder)
        .map_err(EnvironmentError::io("write", folder.display().to_string()))?;
    let caught = search(quarry, limits, &mut store, settings).await;
    let hunted = account(quarry, limits, &caught, (hunt, &folder), settings).await;
    // Trials that were cut short leave theirs.
    let _ = std::fs::remove_dir_all(store.trials());
    Ok(hunted)
}

fn settings(args: &HuntArgs, program: Program, end: &Interrupt) -> Result<RunSettings, Error> {
    let progress: Arc<dyn progress::Progress> = progress::show(args.ground.progress, 0).into();
    Ok(RunSettings {
        program,
        port: args.ground.port,
        networks: Networks::make_ready(NetworkChoice::Fabric, [])?,
        ground: args.ground.servers(),
        interrupt: end.token.clone(),
        progress,
        overheard: None,
    })
}

/// Writes the page of each run that tells a story.
fn render_findings(record: &HuntRecord, hunt: &Path) -> Result<(), Error> {
    let formats = Formats::from([Format::Html]);
    let extent = Extent {
        budget: HTML_BUDGET_DEFAULT,
        window: None,
    };
    let found = record.hunts.iter().flat_map(|hunted| &hunted.found);
    for run in found.map(|found| hunt.join(&found.run)) {
        report::render(&run, &formats, &extent)?;
    }
    Ok(())
}

/// The exact command that repeats the whole.
fn command(args: &HuntArgs, subjects: &[Subject], seed: Seed) -> String {
    let mut words = vec![rerun::program(), "hunt".to_owned()];
    words.extend(subjects.iter().map(|subject| subject.words.clone()));
    words.push(format!("--seed {}", seed.0));
    let list = |names: Vec<&str>| names.join(",");
    if !args.promises.is_empty() {
        let names = args.promises.iter().map(|promise| promise.name());
        words.push(format!("--promise {}", list(names.collect())));
    }
    if !args.topologies.is_empty() {
        let names = args.topologies.iter().map(|kind| kind.name());
        words.push(format!("--topology {}", list(names.collect())));
    }
    words.push(format!("--for {}", args.time));
    words.push(format!("--faults {}", args.faults));
    let lease = args.lease.iter();
    words.extend(lease.map(|lease| format!("--lease {lease}")));
    words.extend(args.ground.at_once());
    words.extend(args.ground.servers());
    words.extend(args.ground.folder());
    words.join(" ")
}
