//! `lockstorm hunt`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::available_parallelism;

use anyhow::{Context as _, Error};
use clap::Args;
use lockstorm_reports::{HUNT_VERSION, HuntRecord, Hunted, terminal_hunt};
use lockstorm_scenarios::{DurationSpec, Promise, System, Topology, TopologyKind};

use super::common::CommonArgs;
use super::exit::{ExitCode, NothingSelected};
use super::interrupt::Interrupt;
use super::perform::written;
use super::subject::{Subject, SubjectArgs};
use super::{descriptors, examples, report};
use crate::adapter::Can;
use crate::clock::wall_clock;
use crate::conformance::usual_servers;
use crate::hunt::{Abilities, Limits, Quarry, Store, account, folder_of, search};
use crate::output::{self, Stream};
use crate::rerun;
use crate::run::{NetworkChoice, Networks, RunSettings};
use crate::seed::Seed;
use crate::server::{Program, find_redis_for, versions_of};
use crate::usage_error::UsageError;
use crate::{folder, progress};

/// Arguments of `lockstorm hunt`.
#[derive(Debug, Args)]
#[command(after_help = examples::HUNT)]
pub struct HuntArgs {
    #[command(flatten)]
    pub subjects: SubjectArgs,
    /// Time for the trials of each lock on each kind of servers; to shorten what they find comes on
    /// top, and may take several times as long.
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
    pub common: CommonArgs,
}

/// Hunts the locks.
///
/// # Errors
/// When a lock is unknown, or the servers cannot be had.
pub fn execute(args: &HuntArgs) -> Result<ExitCode, Error> {
    let kinds = args.subjects.kinds();
    let subjects = args.subjects.read(&args.common)?;
    let quarries: Vec<Quarry> = subjects
        .iter()
        .flat_map(|subject| {
            let known = (args.lease, &args.subjects.promises[..]);
            kinds
                .iter()
                .filter_map(move |kind| quarry(subject, *kind, known))
        })
        .collect();
    if quarries.is_empty() {
        let text = "nothing can be hunted: a hunt needs a lock on servers that --topology names; \
                    `lockstorm list locks` says which lock works on which";
        return Err(NothingSelected(text.into()).into());
    }
    let program = find_redis_for(topologies(&quarries), args.common.redis_server.as_deref())?;
    let seed = args.common.seed();
    let folder = match &args.resume {
        Some(folder) if folder.is_dir() => folder.clone(),
        Some(folder) => {
            let text = format!(
                "--resume must name the folder of a hunt: '{}' is none",
                folder.display()
            );
            return Err(UsageError(text).into());
        }
        None => folder::create(&args.common.out, "hunt", wall_clock(), seed)?,
    };
    let started = wall_clock().to_string();
    output::human(&format!("seed {}, folder {}", seed.0, folder.display()));
    descriptors::make_room();
    let runtime = tokio::runtime::Runtime::new().context("cannot start the runtime")?;
    let limits = Limits {
        faults: args.faults.into(),
        time: args.time.0,
        at_once: args.common.jobs_or(usual_jobs(topologies(&quarries))),
        seed,
    };
    let (hunts, interrupt, failure) = runtime.block_on(async {
        let interrupt = Interrupt::watch()?;
        let settings = settings(args, program.clone(), &interrupt)?;
        let (hunts, failure) = hunt_all(&quarries, limits, &folder, &settings).await;
        Ok::<_, Error>((hunts, interrupt, failure))
    })?;
    let record = HuntRecord {
        version: HUNT_VERSION,
        seed: seed.0,
        started,
        rerun: command(args, &subjects, seed),
        folder: folder.display().to_string(),
        server: versions_of(topologies(&quarries), &program)?,
        hunts,
    };
    output::painted(&terminal_hunt(&record, Stream::Error.layout()));
    for line in written(&report::render_hunt(&record, &folder)?) {
        output::human(&line);
    }
    if let Some(error) = failure {
        return Err(error);
    }
    Ok(interrupt.code().unwrap_or_else(|| code(&record)))
}

/// The servers of each lock that is hunted.
pub(super) fn topologies(quarries: &[Quarry]) -> impl Iterator<Item = &Topology> {
    quarries.iter().map(|quarry| &quarry.terms.topology)
}

/// Trials at once, unless somebody says, on such servers.
pub(super) fn usual_jobs<'a>(topologies: impl Iterator<Item = &'a Topology>) -> usize {
    let of_each = topologies.map(|topology| jobs_per_core(topology.kind().system()));
    of_each.min().unwrap_or(1) * available_parallelism().map_or(1, usize::from)
}

/// Trials at once for each core: the more of a trial is waiting and the less it takes to start its
/// servers, the more of them.
const fn jobs_per_core(system: System) -> usize {
    match system {
        System::Redis => 8,
        System::Mariadb => 4,
        System::Etcd | System::Zookeeper | System::Postgres | System::Custom => 2,
    }
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

/// A lock on servers of a kind, if it can be there; with the lease that is asked for, and promises
/// that it makes beside those that are known.
pub(super) fn quarry(
    subject: &Subject,
    kind: TopologyKind,
    (lease, promises): (Option<DurationSpec>, &[Promise]),
) -> Option<Quarry> {
    let is_refused = subject.refused.iter().any(|(refused, _)| *refused == kind);
    // Nobody knows what is a message there.
    let is_deaf = kind.system() == System::Custom;
    if is_deaf || is_refused || !subject.lock.kind().supports(kind) {
        return None;
    }
    let abilities = Abilities {
        cancel: !subject.lacks(Can::Cancel),
        watchdog: !subject.lacks(Can::Watchdog),
    };
    let can = (abilities, !subject.cannot_renew);
    let servers = usual_servers(kind);
    Some(Quarry::new(&subject.lock, &servers, lease, can, promises))
}

/// Hunts one lock after the other, until the hunt is interrupted or one cannot be kept: what was
/// found before is told all the same.
pub(super) async fn hunt_all(
    quarries: &[Quarry],
    limits: Limits,
    folder: &Path,
    settings: &RunSettings,
) -> (Vec<Hunted>, Option<Error>) {
    let mut hunts = Vec::new();
    for (n, quarry) in quarries.iter().enumerate() {
        if settings.interrupt.is_cancelled() {
            break;
        }
        match hunt((n, quarry), limits, folder, settings).await {
            Ok(hunted) => hunts.push(hunted),
            Err(error) => return (hunts, Some(error)),
        }
    }
    (hunts, None)
}

async fn hunt(
    (n, quarry): (usize, &Quarry),
    limits: Limits,
    hunt: &Path,
    settings: &RunSettings,
) -> Result<Hunted, Error> {
    let folder = folder_of(n, quarry, hunt);
    let mut store = Store::open(&folder, quarry)?;
    let caught = search(quarry, limits, &mut store, settings).await;
    let hunted = account(quarry, limits, &caught, (hunt, &folder), settings).await;
    // Trials that were cut short leave theirs.
    let _ = std::fs::remove_dir_all(store.trials());
    Ok(hunted)
}

fn settings(args: &HuntArgs, program: Program, end: &Interrupt) -> Result<RunSettings, Error> {
    let progress: Arc<dyn progress::Progress> = progress::show(args.common.progress, 0).into();
    Ok(RunSettings {
        program,
        port: args.common.port,
        networks: Networks::make_ready(NetworkChoice::Fabric, [])?,
        rerun_arguments: args.common.servers(),
        interrupt: end.token.clone(),
        progress,
        overheard: None,
        timeout: None,
        spares: None,
    })
}

/// The exact command that repeats the whole.
fn command(args: &HuntArgs, subjects: &[Subject], seed: Seed) -> String {
    let mut words = vec![rerun::program(), "hunt".to_owned()];
    words.extend(subjects.iter().map(|subject| subject.words.clone()));
    words.push(format!("--seed {}", seed.0));
    words.extend(args.subjects.words());
    words.push(format!("--for {}", args.time));
    words.push(format!("--faults {}", args.faults));
    let lease = args.lease.iter();
    words.extend(lease.map(|lease| format!("--lease {lease}")));
    words.extend(args.common.at_once());
    words.extend(args.common.servers());
    words.extend(args.common.folder());
    words.join(" ")
}
