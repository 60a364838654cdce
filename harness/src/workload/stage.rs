//! Things that a workload needs: the case, the servers, the recorder, and the way to make clients.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::thread::available_parallelism;
use std::time::Duration;

use futures_util::future::try_join_all;
use lockstorm_checker::history::{Name, Until};
use lockstorm_scenarios::{
    Case, ClientKind, DurationRange, DurationSpec, Lock, LockFeature, Mutant, Promise, Step,
    Workload,
};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::adapter::{Can, Complaints, Directory, Open, Remote, RemoteSettings};
use crate::client::{AnyLock, Job, Session, SessionParts};
use crate::client_registry::ClientRegistry;
use crate::connection::{Dialer, LateReply, Recorded};
use crate::locks::Lock as _;
use crate::locks::{ClientGroups, LockContext, SharedState};
use crate::orders::OrderDatabase;
use crate::process::{Page, Shim};
use crate::progress::Progress;
use crate::recorder::{EventSink, Processes};
use crate::seed::Seed;
use crate::server::Servers;
use crate::trace::{Replies, Roles, Watch};
use crate::worker::{self, lock_stream};

/// Probes of the final phase at most; where there are more keys, each probe asks for several, one
/// after the other. Each has a connection of its own.
const PROBES_MAX: usize = 64;
/// Probes of the final phase at most where each is a process.
const PROCESS_PROBES_MAX: usize = 4;
/// Turns to start the program of a library, as many at once as there are processors: a virtual
/// machine takes one for a second, and among a dozen that start together a library is not connected
/// within its own time-out.
static STARTING: LazyLock<Semaphore> =
    LazyLock::new(|| Semaphore::new(available_parallelism().map_or(1, usize::from)));
/// Folder, in that of the run, of what the programs of clients write to standard error.
const CLIENTS: &str = "clients";

/// The stage of one run.
pub struct Stage {
    /// Case that is run.
    pub case: Case,
    /// Servers that it runs on.
    pub servers: Arc<Servers>,
    /// Groups of clients that share state, such as a Redisson instance.
    pub groups: ClientGroups,
    /// Folder of the run.
    pub folder: PathBuf,
    /// Puts clocks of clients wrong, where that is to be.
    pub shim: Option<Shim>,
    /// Database that the lock protects.
    pub orders: Option<OrderDatabase>,
    /// Sink for everything that happens.
    pub sink: EventSink,
    /// All choices follow from it.
    pub seed: Seed,
    /// Role of each server.
    pub roles: Arc<Roles>,
    /// Asks the servers what they know of the locks, if anybody wants to know.
    pub watch: Option<Arc<Watch>>,
    /// Notes when the servers replied, where nothing else says it.
    pub replies: Option<Replies>,
    /// Cancelled when the user wants an end.
    pub interrupt: CancellationToken,
    /// Tells the user how far it is.
    pub progress: Arc<dyn Progress>,
}

/// Reason why a workload stopped before its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// The reason, in words.
    pub why: String,
    /// Promise of the lock that an answer broke, where the script says that it does.
    pub breaks: Option<Promise>,
    /// True if a client was answered otherwise than the script says. Without an answer nobody
    /// knows.
    pub is_unmet: bool,
    /// Step of the script at which it stopped, from 0.
    pub step: Option<usize>,
}

impl Stopped {
    /// A stop that breaks no promise.
    pub const fn new(why: String) -> Self {
        Self {
            why,
            breaks: None,
            is_unmet: false,
            step: None,
        }
    }
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl Stage {
    /// Names of the clients that the workload has, in the order of their process ids.
    pub fn client_names(&self) -> Vec<String> {
        match &self.case.workload {
            Workload::Litmus(steps) => {
                let mut names: Vec<String> = Vec::new();
                for step in steps {
                    if let Step::Acquire(acquire) = step
                        && !names.contains(&acquire.client)
                    {
                        names.push(acquire.client.clone());
                    }
                }
                names
            }
            Workload::Storm(..) => (0..self.case.clients.count)
                .map(|n| format!("c{n}"))
                .collect(),
        }
    }

    /// The lock keys that the workload is about.
    pub fn keys(&self) -> Vec<Name> {
        keys(&self.case)
    }

    /// Pauses between the tries of a waiting acquire: the lock's own where it has an opinion.
    pub fn retry(&self) -> DurationRange {
        self.case
            .lock
            .retry_delay()
            .unwrap_or(self.case.clients.retry)
    }

    /// Number of clients that ask for the keys in the final phase.
    pub fn probes(&self) -> usize {
        let max = if self.command().is_some() {
            PROCESS_PROBES_MAX
        } else {
            PROBES_MAX
        };
        self.keys().len().min(max)
    }

    /// Distance between two processes of one client: as many as there are clients, the probes of
    /// the final phase included, and as many again where clients do things by themselves.
    fn processes_in_all(&self) -> u64 {
        let clients = (self.client_names().len() + self.probes()) as u64;
        if self.command().is_some() {
            2 * clients
        } else {
            clients
        }
    }

    /// Returns the state that client number `n` shares with others: a fresh client, which proves
    /// that a lock can be had again, shares none with those before it.
    fn shared(&self, n: usize) -> SharedState {
        if n < self.client_names().len() {
            self.groups.of(n)
        } else {
            SharedState::default()
        }
    }

    /// Client number `n` of the run, called `name`.
    ///
    /// # Errors
    /// When it is to be a process, and that cannot be had.
    async fn session(&self, name: &str, n: usize) -> Result<Session, Stopped> {
        let spec = &self.case.lock;
        let gate = self.servers.registry().register(name);
        let source = self.servers.introduce_client(name, n);
        let lock = match self.command() {
            None => {
                let context = LockContext {
                    client: name.to_owned(),
                    dialer: Dialer {
                        source,
                        gate: gate.clone(),
                        reply_timeout: self.case.clients.reply_timeout.0,
                        batch_timeout: Duration::ZERO,
                        late: LateReply::Closes,
                        trail: self.trail(name, n),
                        commands: &[],
                    },
                    route: self.servers.route(),
                    shared: self.shared(n),
                    rng: self.seed.stream(&lock_stream(name)),
                };
                let mut lock = AnyLock::new(spec, context)
                    .expect("a lock without a program of its own is ours");
                lock.connect().await;
                lock
            }
            Some(command) => self.embodied(command, name, n, source).await?,
        };
        let can = |what| matches!(&lock, AnyLock::Remote(remote) if remote.can(what));
        let always_renews = can(Can::AlwaysRenews);
        let has_silent_watchdog = can(Can::SilentWatchdog) || always_renews;
        let own_watchdog = can(Can::Watchdog) || has_silent_watchdog;
        let lacks_watchdog = matches!(spec, Lock::Adapter(_)) && !own_watchdog;
        let registry = self.servers.registry();
        if lacks_watchdog {
            registry.has_no_watchdog(name);
        }
        if has_silent_watchdog {
            registry.has_silent_watchdog(name);
        }
        if lock.is_program() && !can(Can::Cancel) {
            registry.cannot_cancel(name);
        }
        let renew_every = spec.renew_every().filter(|_| !own_watchdog);
        let has_session = spec.kind().has(LockFeature::Session);
        Ok(Session::new(SessionParts {
            name: name.into(),
            process: n as u64,
            clients: self.processes_in_all(),
            lock,
            gate,
            lease: spec.lease().map(|lease| lease.0),
            until: has_session.then_some(Until::SessionEnd),
            renew_every: renew_every.map(|every| every.0),
            lacks_watchdog,
            renews_unseen: always_renews || has_silent_watchdog && spec.renew_every().is_some(),
            renews_on: spec.mutant() == Some(Mutant::WatchdogNotStopped),
            sink: self.sink.clone(),
            rng: self.seed.stream(&format!("client/{name}")),
            job: self.orders.clone().map(Job::new),
        })
        .kept_alive(always_renews || spec.renew_every().is_some() || spec.lease().is_none())
        .knowing(self.roles.clone())
        .watched(self.watch.clone())
        .replied(self.replies.clone())
        .overheard(self.servers.messages().cloned()))
    }

    /// Trail in which client number `n`, called `name`, writes down which servers it turns to.
    fn trail(&self, name: &str, n: usize) -> Arc<Recorded> {
        Arc::new(Recorded {
            sink: self.sink.clone(),
            owner: name.into(),
            process: n as u64,
        })
    }

    /// Clients number `first` and on, called so, all started at once.
    ///
    /// # Errors
    /// When one of them cannot be had.
    pub async fn sessions(&self, names: &[String], first: usize) -> Result<Vec<Session>, Stopped> {
        let numbered = names.iter().enumerate();
        let sessions = numbered.map(|(n, name)| self.session(name, first + n));
        tokio::select! {
            () = self.interrupt.cancelled() => Err(Stopped::new("interrupted".to_owned())),
            sessions = try_join_all(sessions) => sessions,
        }
    }

    /// The program that each client is, if it is one.
    fn command(&self) -> Option<Command> {
        match (&self.case.lock, self.case.clients.kind) {
            (Lock::Adapter(adapter), _) => Some(Command::Theirs(adapter.command.clone())),
            (_, ClientKind::Process) => Some(Command::Ours),
            (_, ClientKind::Task) => None,
        }
    }

    /// The lock of a client that is a process.
    async fn embodied(
        &self,
        command: Command,
        name: &str,
        n: usize,
        source: IpAddr,
    ) -> Result<AnyLock, Stopped> {
        let stopped =
            |why: String| Stopped::new(format!("client '{name}' cannot be started: {why}"));
        let foreign = matches!(command, Command::Theirs(_));
        let command = match command {
            Command::Theirs(command) => command,
            Command::Ours => worker::command().map_err(|error| stopped(error.to_string()))?,
        };
        let folder = self.folder.join(CLIENTS);
        fs::create_dir_all(&folder)
            .map_err(|error| stopped(format!("cannot create '{}': {error}", folder.display())))?;
        // Scenarios may call clients by any name, and a file by few.
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let file: String = name
            .chars()
            .map(|c| if plain(c) { c } else { '_' })
            .collect();
        let log = folder.join(format!("{file}.log"));
        let registry = self.servers.registry();
        let complaints = complaints(&registry, name, &log);
        let all = self.processes_in_all();
        let page = self.shim.as_ref().map(Shim::page).transpose();
        let page: Option<Page> = page.map_err(|error| stopped(error.to_string()))?;
        let mut directory = Directory::default();
        if foreign {
            let port = self.servers.own_port(name, n).await;
            directory = Directory::at_port(port.map_err(|error| stopped(error.to_string()))?);
        }
        let settings = RemoteSettings {
            command,
            page: page.as_ref(),
            log,
            open: self.open(name, source, directory),
            route: self.servers.route(),
            directory,
            gate: registry.register(name),
            sink: self.sink.clone(),
            trail: self.trail(name, n),
            // The upper half of the numbers is for what clients do by themselves.
            processes: Processes::new(all / 2 + n as u64, all),
            complaints,
        };
        let _turn = if foreign {
            STARTING.acquire().await.ok()
        } else {
            None
        };
        let (remote, program) = Remote::start(settings)
            .await
            .map_err(|error| stopped(error.to_string()))?;
        registry.attach_process(name, program, page);
        if foreign {
            registry.set_adapter(remote.name());
        }
        if let Some(template) = remote.server_key() {
            registry.set_server_key(template);
        }
        let is_known = directory.is_own() || remote.can(Can::Source);
        if self.servers.has_network() && !is_known {
            let why = "links are to be faulted, and it does not connect from the address that it \
                       is told, by which they are known; leave out --network kernel, or say \
                       'source' in `can`";
            return Err(stopped(why.to_owned()));
        }
        Ok(AnyLock::Remote(Box::new(remote)))
    }

    /// Message that tells the program of client `name` who it is to be.
    fn open(&self, name: &str, source: IpAddr, directory: Directory) -> Open {
        let spec = &self.case.lock;
        Open {
            client: name.to_owned(),
            lease_ms: spec.lease().map(DurationSpec::as_millis),
            renew_every_ms: spec.renew_every().map(DurationSpec::as_millis),
            reply_timeout_ms: self.case.clients.reply_timeout.as_millis(),
            node_timeout_ms: spec.node_timeout().map(DurationSpec::as_millis),
            identity: self.case.clients.identity.clone(),
            permits: Some(spec.permits()).filter(|permits| *permits != 1),
            topology: self.case.topology.alike().name().to_owned(),
            servers: directory.servers(&self.servers.route()),
            nodes: directory.nodes(&self.servers),
            sentinels: directory.watch(&self.servers.route()),
            source: source.to_string(),
            seed: self.seed.0,
            lock: spec.clone(),
        }
    }
}

/// The lock keys that the workload of a case is about.
pub fn keys(case: &Case) -> Vec<Name> {
    match &case.workload {
        Workload::Litmus(steps) => {
            let keys: BTreeSet<&str> = steps
                .iter()
                .filter_map(|step| match step {
                    Step::Acquire(acquire) => Some(acquire.key.as_str()),
                    _ => None,
                })
                .collect();
            keys.into_iter().map(Name::from).collect()
        }
        Workload::Storm(..) => (0..case.clients.keys)
            .map(|n| format!("lock-{n}").into())
            .collect(),
    }
}

/// Program that a client runs as.
enum Command {
    /// This very program.
    Ours,
    /// An adapter.
    Theirs(Vec<String>),
}

/// Passes on what is wrong with the program of client `name`, and where to look.
fn complaints(registry: &Arc<ClientRegistry>, name: &str, log: &Path) -> Complaints {
    let registry = Arc::downgrade(registry);
    let who = format!("the program of client '{name}'");
    let log = log.display().to_string();
    Box::new(move |what| {
        if let Some(registry) = registry.upgrade() {
            registry.complain(format!(
                "{who}: {what}; what it wrote to standard error is in {log}, and what it should \
                 say in docs/adapter-protocol.md"
            ));
        }
    })
}
