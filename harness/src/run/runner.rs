//! One run from beginning to end: servers up, workload, final phase, history saved, checked,
//! stored.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use lockstorm_checker::history::{Header, PhaseNote, read_jsonl};
use lockstorm_checker::{Analysis, END, Options, Verdict};
use lockstorm_nemesis::Nemesis;
use lockstorm_nemesis::messages::Passed;
use lockstorm_reports::{Cost, ExpectationResult, Outcome, RESULTS_VERSION, RunRecord, Tested};
use lockstorm_scenarios::{
    Case, ClientKind, DurationSpec, GuardedResource, Lines, Lock, LockFeature, Role, System,
    Topology, Trace, Workload,
};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::environment;
use super::network::Networks;
use super::time_limit::TimeLimit;
use crate::clock::{RunClock, wall_clock};
use crate::environment_error::EnvironmentError;
use crate::locks::ClientGroups;
use crate::orders::OrderDatabase;
use crate::plan::{Job, needs_shim, needs_shim_in_clients, one_paragraph};
use crate::process::{Shim, guardian};
use crate::progress::Progress;
use crate::recorder::{EventSink, Hashed, Heartbeat, RecordError, Recorder};
use crate::server::{Program, ServerSettings, Servers, Spares, Wiring};
use crate::trace::{
    FaultNoteSink, LeaseWatch, Monitor, MonitorSettings, Replies, RoleWatch, Roles, Watch,
};
use crate::workload::{self, Stage, Stopped};
use crate::{folder, rerun};

/// Time within which servers notice a lease that is over: etcd looks every half second and agrees
/// on what it found, ZooKeeper at each of its ticks, which take as long.
const LOOKS_EVERY_MS: u64 = 1_000;

/// Time that clients which were ended may take to let go of the servers.
const CLEARED_WITHIN: Duration = Duration::from_secs(10);

/// Settings that all runs of a plan share.
#[derive(Clone)]
pub struct RunSettings {
    /// The server program.
    pub program: Program,
    /// Port of the servers.
    pub port: u16,
    /// Networks that links go through.
    pub networks: Networks,
    /// Arguments for program, port and network in the command line that repeats a run.
    pub rerun_arguments: Vec<String>,
    /// Cancelled when the user wants an end.
    pub interrupt: CancellationToken,
    /// Tells the user how far it is.
    pub progress: Arc<dyn Progress>,
    /// Hears every message between clients and servers, where somebody wants to know them.
    pub overheard: Option<Overheard>,
    /// Time after which a run is ended.
    pub timeout: Option<Duration>,
    /// Servers that runs in which nothing happens to one may have from each other, where all are
    /// of the same kind.
    pub spares: Option<Arc<Spares>>,
}

/// The messages of a run, once it has ended.
pub type Overheard = Arc<Mutex<Vec<Passed>>>;

/// Reason why a run gave no record.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The servers could not be had.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// The history could not be saved.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The history cannot be read back after it was written: a bug of this program.
    #[error("the history of this run cannot be read back: {0}")]
    ReadBack(String),
    /// The record could not be stored.
    #[error(transparent)]
    Store(#[from] lockstorm_reports::RenderError),
}

impl RunError {
    /// `true` if it says nothing of other runs: this one's servers could not be had.
    pub fn is_of_one_run(&self) -> bool {
        matches!(self, Self::Environment(error) if error.is_of_these_servers())
    }
}

/// Runs `job` in `folder` and stores what came of it there.
///
/// # Errors
/// When there is nothing to judge: no servers, or no history.
pub async fn run(job: &Job, folder: &Path, settings: &RunSettings) -> Result<RunRecord, RunError> {
    let begun = Instant::now();
    let limit = TimeLimit::start(settings.timeout, &settings.interrupt);
    let settings = &RunSettings {
        interrupt: limit.token.clone(),
        ..settings.clone()
    };
    let scenario = lockstorm_scenarios::effective(&job.case);
    let path = folder.join(folder::SCENARIO);
    fs::write(&path, scenario)
        .map_err(EnvironmentError::io("write", path.display().to_string()))?;
    guardian::stand_by().map_err(EnvironmentError::io("start", "the guardian"))?;
    let wiring = wiring(&job.case, settings);
    let spares = spares(&job.case, wiring, settings);
    let servers = Servers::start(ServerSettings {
        topology: job.case.topology.clone(),
        program: settings.program.clone(),
        port: settings.port,
        folder: folder.join("nodes"),
        wiring,
        shim: needs_shim(&job.case),
        spares: spares.clone(),
    })
    .await?;
    let fleet = servers.fleet();
    servers.prove(&job.case).await?;
    let mut environment = environment::look(&servers, &job.case.topology).await;
    let started = wall_clock().to_string();
    let history = folder.join(folder::HISTORY);
    let orders = make_orders(&job.case, folder)?;
    let registry = servers.registry();
    let cleared_away = servers.cleared_away();
    let deployed = (Arc::new(servers), orders);
    let recorded = record(job, deployed, settings, &history, &started).await;
    // Another run may follow in the same folder: what clears away late would take its files.
    let is_cleared = timeout(CLEARED_WITHIN, cleared_away).await.is_ok();
    let (stopped, round_trips) = recorded?;
    if let (Some(spares), true) = (spares, is_cleared) {
        spares.keep(fleet, wiring).await;
    }
    let stopped = limit.told(stopped);
    environment.adapter = registry.adapter();
    let duration_s = begun.elapsed().as_secs_f64();
    let judged = analyse(history, &job.case, round_trips).await?;
    let (analysis, cost) = (judged.analysis, judged.cost);
    environment.history_sha256 = Some(judged.hash);
    let expectations = compare(&job.case, &analysis);
    let situation = tested(&job.case, stopped.as_ref());
    let mut record = RunRecord {
        version: RESULTS_VERSION,
        scenario: job.case.name.clone(),
        description: one_paragraph(&job.case.description),
        labels: job.case.labels.clone(),
        seed: job.seed.0,
        without_scenario: false,
        repetition: job.repetition,
        started,
        duration_s,
        outcome: Outcome::default(),
        expectations,
        situation,
        unmet_step: stopped.as_ref().and_then(unmet_step),
        stopped: stopped.map(|stopped| stopped.why),
        lines: lines(&job.case),
        earlier: Vec::new(),
        analysis,
        cost: Some(cost),
        environment,
        rerun: job
            .rerun
            .clone()
            .unwrap_or_else(|| rerun::of_stored(&path, job.seed, &settings.rerun_arguments)),
        changed: None,
    };
    record.outcome = record.due_outcome();
    lockstorm_reports::write_run(folder, &record)?;
    Ok(record)
}

/// Network that the run takes.
fn wiring(case: &Case, settings: &RunSettings) -> Wiring {
    match &settings.overheard {
        Some(_) => Wiring::Fabric {
            reads_messages: true,
        },
        None => settings.networks.wiring(case),
    }
}

/// The spare servers, if the run may have some: they stand behind a fabric that reads messages, and
/// nothing of what goes wrong happens to a server.
fn spares(case: &Case, wiring: Wiring, settings: &RunSettings) -> Option<Arc<Spares>> {
    let reads_messages = matches!(
        wiring,
        Wiring::Fabric {
            reads_messages: true
        }
    );
    let may = reads_messages && touches_clients_alone(case);
    settings.spares.clone().filter(|_| may)
}

/// Tells whether all that the faults of a case name are clients, and their messages.
fn touches_clients_alone(case: &Case) -> bool {
    let faults = case.workload.faults();
    let mut names = faults.iter().flat_map(|fault| fault.names());
    names.all(|named| named.role == Role::Client)
}

/// Number of the step, from 1, that was answered otherwise than it says, if one was.
fn unmet_step(stopped: &Stopped) -> Option<usize> {
    stopped.step.filter(|_| stopped.is_unmet).map(|n| n + 1)
}

/// Place of the case in its file, where there is one.
fn lines(case: &Case) -> Option<Lines> {
    let lines = &case.origins.lines;
    Path::new(&lines.file).is_file().then(|| lines.clone())
}

/// Keeps what the situation tests with the record, if the case is one.
fn tested(case: &Case, stopped: Option<&Stopped>) -> Option<Tested> {
    let situation = case.situation.as_ref()?;
    Some(Tested {
        tests: situation.tests.clone(),
        promised: situation.promises_of(&case.lock),
        inherent: situation
            .inherent
            .iter()
            .map(|(property, reason)| (*property, one_paragraph(reason)))
            .collect(),
        is_storm: matches!(case.workload, Workload::Storm(..)),
        by_answers: case.workload.judged_by_answers(),
        broken_by_answer: stopped.and_then(|stopped| stopped.breaks),
    })
}

/// Makes the database of orders, where the lock is to guard one.
fn make_orders(case: &Case, folder: &Path) -> Result<Option<OrderDatabase>, RunError> {
    let Some(GuardedResource::Orders(orders)) = &case.guarded_resource else {
        return Ok(None);
    };
    let path = folder.join(folder::ORDERS);
    let database = OrderDatabase::create(&path, orders)
        .map_err(io::Error::other)
        .map_err(EnvironmentError::io("create", path.display().to_string()))?;
    Ok(Some(database))
}

/// Runs the workload and saves its history. Gives the reason if it stopped before its end, and how
/// many requests its clients waited for, where that can be told.
async fn record(
    job: &Job,
    (servers, orders): (Arc<Servers>, Option<OrderDatabase>),
    settings: &RunSettings,
    history: &Path,
    started: &str,
) -> Result<(Option<Stopped>, Option<u64>), RunError> {
    let promises = job.case.lock.extra_promises().into_iter();
    let header = Header {
        scenario: Some(job.case.name.clone()),
        seed: Some(job.seed.0),
        started: Some(started.to_owned()),
        permits: Some(job.case.lock.permits()).filter(|&permits| permits != 1),
        ends_late_ms: ends_late(&job.case),
        waits_at_least: job.case.lock.is_foreign().then_some(true),
        asks_once: job
            .case
            .lock
            .kind()
            .has(LockFeature::SingleRequest)
            .then_some(true),
        notes_failures: has_programs(&job.case).then_some(true),
        promises: promises.map(|promise| promise.name().to_owned()).collect(),
        prefix: servers.prefix().map(str::to_owned),
        availability_gap_ms_max: job
            .case
            .checks
            .availability_gap
            .map(DurationSpec::as_millis),
        ..Header::new()
    };
    let recorder = Recorder::start(history, &header, RunClock::start())?;
    let sink = recorder.sink();
    let end = recorder.sink();
    sink.phase(PhaseNote {
        name: "main".into(),
        bound: None,
    })
    .await;
    let (monitor, watch) = trace(&job.case, &servers, &sink).await?;
    let replies = needs_replies(&job.case).then(|| Replies::new(servers.clone(), sink.clone()));
    let roles = Arc::new(Roles::new(&servers, sink.clone()).await);
    let role_watch = RoleWatch::start(&roles, &servers);
    let lease_watch = LeaseWatch::start(&servers, &sink).await;
    let notes = FaultNoteSink {
        sink: sink.clone(),
        watch: watch.clone(),
    };
    let nemesis = Nemesis::new(servers.clone(), Arc::new(notes), job.seed.stream("lots"));
    let shim = needs_shim_in_clients(&job.case).then(Shim::new).transpose();
    let stage = Stage {
        case: job.case.clone(),
        servers,
        groups: ClientGroups::new(&job.case.lock),
        folder: history.parent().unwrap_or(Path::new(".")).to_owned(),
        shim: shim.map_err(EnvironmentError::io("load", "the shim"))?,
        orders,
        sink,
        seed: job.seed,
        roles,
        watch,
        replies,
        interrupt: settings.interrupt.clone(),
        progress: settings.progress.clone(),
    };
    let heartbeat = Heartbeat::start(end.clone());
    let stopped = workload::run(&stage, nemesis).await;
    // The clients hold nothing by now; what the probes of the final phase asked is not theirs.
    let round_trips = stage.servers.registry().round_trips(&stage.client_names());
    if let (Some(overheard), Some(messages)) = (&settings.overheard, stage.servers.messages()) {
        *overheard.lock().expect("no holder panics") = messages.passed();
    }
    let servers = stage.servers.clone();
    let left = servers.leave().await.err().map(Stopped::new);
    role_watch.stop().await;
    lease_watch.stop().await;
    drop((stage, heartbeat));
    if let Some(monitor) = monitor {
        monitor.stop().await;
    }
    end.phase(PhaseNote {
        name: END.into(),
        bound: None,
    })
    .await;
    servers.close_network().await;
    recorder.finish().await?;
    Ok((both(stopped, left), round_trips))
}

/// Time for which servers may go on with a lease that is over, in milliseconds. Those of etcd and
/// ZooKeeper look for such leases now and then, and begin all anew when another of them leads; of
/// custom servers their file says it, or nobody knows.
fn ends_late(case: &Case) -> Option<u64> {
    let said = match &case.topology {
        Topology::Custom(custom) => custom.ends_leases_within,
        _ => None,
    };
    match case.topology.kind().system() {
        System::Etcd | System::Zookeeper | System::Custom => {
            let anew = case.lock.lease().map_or(0, DurationSpec::as_millis);
            Some(said.map_or(LOOKS_EVERY_MS + anew, DurationSpec::as_millis))
        }
        System::Redis | System::Mariadb | System::Postgres => None,
    }
}

/// Tells whether clients are programs, whose ends are noted.
fn has_programs(case: &Case) -> bool {
    matches!(case.lock, Lock::Adapter(_)) || case.clients.kind == ClientKind::Process
}

/// Joins what stopped the workload and what is wrong at its end.
fn both(stopped: Option<Stopped>, left: Option<Stopped>) -> Option<Stopped> {
    match (stopped, left) {
        (Some(stopped), Some(left)) => Some(Stopped {
            why: format!("{stopped}; {left}"),
            ..stopped
        }),
        (stopped, left) => stopped.or(left),
    }
}

/// Tells whether it is to be noted when servers replied: in scripts, and in storms that are
/// traced, unless a MONITOR tells more.
fn needs_replies(case: &Case) -> bool {
    let is_script = matches!(case.workload, Workload::Litmus(_));
    let is_monitored = case.trace.contains(&Trace::Monitor);
    !is_monitored && (is_script || case.trace.contains(&Trace::Probe))
}

/// Starts the tracing that the case asks of the servers themselves.
async fn trace(
    case: &Case,
    servers: &Arc<Servers>,
    sink: &EventSink,
) -> Result<(Option<Monitor>, Option<Arc<Watch>>), EnvironmentError> {
    let monitor = if case.trace.contains(&Trace::Monitor) {
        let settings = MonitorSettings {
            servers: servers.clone(),
            keys: workload::keys(case),
            sink: sink.clone(),
        };
        Some(Monitor::start(settings).await?)
    } else {
        None
    };
    let watch = || Watch::new(servers.clone(), workload::keys(case), sink.clone());
    let probe = case.trace.contains(&Trace::Probe);
    Ok((monitor, probe.then(|| Arc::new(watch()))))
}

/// Verdict on the saved history.
struct Judged {
    analysis: Analysis,
    cost: Cost,
    /// SHA-256 of the file, so that one can tell later which history was judged.
    hash: String,
}

/// Reads the saved history back, judges it, and works out what the lock cost.
async fn analyse(
    history: PathBuf,
    case: &Case,
    round_trips: Option<u64>,
) -> Result<Judged, RunError> {
    let only = case
        .checks
        .only
        .as_ref()
        .map(|only| only.iter().copied().collect());
    let options = Options {
        only,
        ..Options::default()
    };
    let checked = tokio::task::spawn_blocking(move || {
        let name = history.display().to_string();
        let file = File::open(&history).map_err(|error| error.to_string())?;
        let mut bytes = Hashed::new(file);
        let history =
            read_jsonl(BufReader::new(&mut bytes), &name).map_err(|error| error.to_string())?;
        Ok(Judged {
            analysis: lockstorm_checker::check(&history, &options),
            cost: Cost::of(&history, round_trips),
            hash: bytes.hash(),
        })
    });
    checked
        .await
        .unwrap_or_else(|error| Err(format!("the checker failed: {error}")))
        .map_err(RunError::ReadBack)
}

/// Each property that was judged, or is expected to be, against its expectation.
fn compare(case: &Case, analysis: &Analysis) -> Vec<ExpectationResult> {
    let judged = analysis.properties.keys();
    let properties: BTreeSet<_> = judged.chain(case.expect.keys()).copied().collect();
    properties
        .into_iter()
        .map(|property| {
            let expected = case.expected(property);
            // What was not judged could not have been shown.
            let actual = analysis
                .properties
                .get(&property)
                .map_or(Verdict::Unknown, |j| j.verdict);
            ExpectationResult {
                property,
                expected,
                actual,
                met: expected.is_met_by(actual),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(topology: &str, lock: &str, more: &str) -> Case {
        let text = format!(
            "name = \"test\"\ntopology.{topology}\nlock.{lock}\n\
             step = [{more}{{ acquire = {{ client = \"a\" }} }}]\n"
        );
        let loaded = lockstorm_scenarios::load_str(&text, "test", &[]).expect("it is right");
        let expanded = lockstorm_scenarios::expand(&loaded).expect("it is one case");
        expanded.cases[0].clone()
    }

    fn lateness(topology: &str, lock: &str) -> Option<u64> {
        ends_late(&case(topology, lock, ""))
    }

    #[test]
    fn servers_go_on_to_the_next_run_unless_a_fault_is_one_of_theirs() {
        let lost = "{ lose-message = { client = \"a\", message = \"request\" } }, ";
        let killed = "{ kill = { node = \"primary\" } }, ";
        let of_clients = |more: &str| {
            let case = case("single = {}", "token = { lease = \"2s\" }", more);
            touches_clients_alone(&case)
        };
        assert!(of_clients(lost));
        assert!(!of_clients(killed));
        assert!(!of_clients(&format!("{lost}{killed}")));
    }

    #[test]
    fn servers_that_look_for_leases_now_and_then_end_them_late_and_a_file_says_how_late() {
        let redis = lateness("single = {}", "token = { lease = \"2s\" }");
        assert_eq!(redis, None, "they end when they are over");
        let etcd = lateness("etcd = {}", "etcd-mutex = { lease = \"2s\" }");
        assert_eq!(etcd, Some(3_000));
        let custom = |more: &str| {
            let servers = format!(
                "custom = {{ name = \"own\", start = [\"own\"], answers = [\"own\"]{more} }}"
            );
            let lock = "adapter = { name = \"own\", command = [\"own\"], lease = \"2s\" }";
            lateness(&servers, lock)
        };
        assert_eq!(custom(""), Some(3_000), "nobody knows");
        assert_eq!(custom(", ends-leases-within = \"500ms\""), Some(500));
        assert_eq!(custom(", ends-leases-within = \"0s\""), Some(0));
    }
}
