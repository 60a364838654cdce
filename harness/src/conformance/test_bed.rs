//! Real servers for an adapter, and clients that are it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use lockstorm_checker::history::Header;
use lockstorm_nemesis::{Deployment as _, LinkGuard, Processes as ServerProcesses};
use lockstorm_scenarios::{Adapter, CutMode, DurationSpec, Lock, System, Topology};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::time::{Instant, sleep};

use super::checks::POLL;
use crate::adapter::{
    Answer, Call, Directory, Open, Opened, PROTOCOL, Rounds, SPOKEN, StartError, Tail, Talk,
    TalkParts, Target, keep_log,
};
use crate::clock::RunClock;
use crate::connection::{Gate, NoTrail};
use crate::environment_error::EnvironmentError;
use crate::process::{ClientProcess, guardian};
use crate::recorder::{Processes, Recorder};
use crate::run::RunError;
use crate::server::{Node, ServerSettings, Servers};

/// Longest time that an answer may take: the start of an interpreter on a busy machine.
const ANSWERS_WITHIN: Duration = Duration::from_secs(30);
/// Longest time that it takes until open connections are reset.
const RESET_WITHIN: Duration = Duration::from_secs(2);
/// Time that a client is told to wait for a server's reply.
const REPLY_TIMEOUT: DurationSpec = DurationSpec::from_millis(500);

/// Servers, and the program under test.
pub struct TestBed {
    command: Vec<String>,
    folder: PathBuf,
    topology: Topology,
    servers: Servers,
    recorder: Recorder,
    /// Number of clients so far.
    clients: usize,
    /// Number of locks so far.
    keys: usize,
    unsupported: Option<String>,
    is_endless: bool,
}

/// One client that is the program.
pub(super) struct Peer {
    /// Name by which its links are known.
    pub(super) client: String,
    talk: Talk,
    pub(super) program: Arc<ClientProcess>,
    /// Name and version that it gives itself.
    pub(super) name: String,
    /// Words about itself and its library.
    pub(super) opened: Opened,
    /// Holds its renewals up.
    pub(super) gate: Arc<Gate>,
}

/// A program that was not spoken to yet.
pub(super) struct Raw {
    pub(super) program: ClientProcess,
    pub(super) input: ChildStdin,
    pub(super) output: ChildStdout,
    pub(super) tail: Arc<Tail>,
}

impl TestBed {
    /// Starts the servers.
    ///
    /// # Errors
    /// When they cannot be had.
    pub async fn new(
        command: Vec<String>,
        folder: PathBuf,
        settings: ServerSettings,
    ) -> Result<Self, RunError> {
        let topology = settings.topology.clone();
        let clients = folder.join("clients");
        let show = |path: &Path| path.display().to_string();
        fs::create_dir_all(&clients).map_err(EnvironmentError::io("create", show(&clients)))?;
        let history = folder.join("history.jsonl");
        guardian::stand_by().map_err(EnvironmentError::io("start", "the guardian"))?;
        let recorder = Recorder::start(&history, &Header::new(), RunClock::start())?;
        Ok(Self {
            command,
            folder: clients,
            topology,
            servers: Servers::start(settings).await?,
            recorder,
            clients: 0,
            keys: 0,
            unsupported: None,
            is_endless: false,
        })
    }

    /// Why the program cannot be on these servers, where its last client said so.
    pub(super) fn unsupported(&mut self) -> Option<String> {
        self.unsupported.take()
    }

    /// A lock that nobody has asked for yet.
    pub(super) fn key(&mut self) -> String {
        self.keys += 1;
        format!("check-{}", self.keys)
    }

    /// Tells whether its locks never end, as its clients so far have said.
    pub(super) const fn is_endless(&self) -> bool {
        self.is_endless
    }

    /// A fresh client that has said hello and is open, with locks of this lease, or without one
    /// where the library has none.
    pub(super) async fn client(&mut self, lease: Duration) -> Result<Peer, String> {
        if self.is_endless {
            return self.opened(None, None).await;
        }
        let first = self.opened(Some(lease), None).await;
        let Some(text) = self.unsupported() else {
            return first;
        };
        let endless = self.opened(None, None).await;
        self.is_endless = endless.is_ok();
        endless.map_err(|other| {
            let both = if other == text {
                text
            } else {
                format!("{text}; and of locks without a lease: {other}")
            };
            self.unsupported = Some(both.clone());
            both
        })
    }

    /// Opens a fresh client with locks of this lease, told to renew what it holds.
    pub(super) async fn watching_client(
        &mut self,
        lease: Duration,
        renew_every: Duration,
    ) -> Result<Peer, String> {
        self.opened(Some(lease), Some(renew_every)).await
    }

    async fn opened(
        &mut self,
        lease: Option<Duration>,
        renew_every: Option<Duration>,
    ) -> Result<Peer, String> {
        let number = self.clients;
        let name = format!("c{number}");
        let Raw {
            program,
            input,
            output,
            tail,
        } = self.start()?;
        let program = Arc::new(program);
        let sink = self.recorder.sink();
        let rounds = Rounds::new(
            name.as_str().into(),
            lease.map(|lease| lease.as_millis() as u64),
            sink.clone(),
            Processes::new(number as u64, u64::from(u32::MAX)),
        );
        let gate = self.servers.registry().register(&name);
        let talk = Talk::begin(TalkParts {
            program: program.clone(),
            input,
            output,
            gate: gate.clone(),
            clock: sink.clock(),
            rounds,
            trail: Arc::new(NoTrail),
            tail,
            // Whoever asks is told.
            complaints: Box::new(|_| {}),
        });
        let port = self.servers.own_port(&name, number).await;
        let directory = Directory::at_port(port.map_err(|error| error.to_string())?);
        let open = self.open(&name, number, (lease, renew_every), directory);
        let mut peer = Peer {
            client: name,
            talk,
            program,
            name: String::new(),
            opened: Opened::default(),
            gate,
        };
        match peer.ask(Call::Hello { protocol: PROTOCOL }).await? {
            Answer::Hello {
                protocol,
                name,
                version,
            } if SPOKEN.contains(&protocol) => {
                let name = format!("{name} {version}");
                name.trim_end().clone_into(&mut peer.name);
            }
            other => return Err(unexpected("hello", &other)),
        }
        match peer.ask(Call::Open(Box::new(open))).await? {
            Answer::Opened(opened) => peer.opened = opened,
            Answer::Unsupported { text } => {
                self.unsupported = Some(text.clone());
                return Err(text);
            }
            other => return Err(unexpected("open", &other)),
        }
        Ok(peer)
    }

    /// The program, started and not spoken to.
    pub(super) fn start(&mut self) -> Result<Raw, String> {
        let log = self.folder.join(format!("c{}.log", self.clients));
        self.clients += 1;
        let told = |what: &str| {
            let what = what.to_owned();
            move |error: io::Error| format!("cannot {what}: {error}")
        };
        let file = File::create(&log).map_err(told("write its log"))?;
        let (program, pipes) = ClientProcess::start(&self.command, None).map_err(|source| {
            let program = self.command.first().cloned().unwrap_or_default();
            StartError::Program { program, source }.to_string()
        })?;
        let tail = keep_log(pipes.errors, file);
        Ok(Raw {
            tail,
            program,
            input: pipes.input,
            output: pipes.output,
        })
    }

    fn open(
        &self,
        name: &str,
        number: usize,
        (lease, renew_every): (Option<Duration>, Option<Duration>),
        directory: Directory,
    ) -> Open {
        Open {
            client: name.to_owned(),
            lease_ms: lease.map(|lease| lease.as_millis() as u64),
            renew_every_ms: renew_every.map(|every| every.as_millis() as u64),
            reply_timeout_ms: REPLY_TIMEOUT.as_millis(),
            node_timeout_ms: None,
            identity: None,
            permits: None,
            topology: self.topology.kind().name().to_owned(),
            servers: directory.servers(&self.servers.route()),
            nodes: directory.nodes(&self.servers),
            sentinels: directory.watch(&self.servers.route()),
            source: self.servers.introduce_client(name, number).to_string(),
            seed: number as u64,
            lock: Lock::Adapter(Adapter {
                name: "adapter".to_owned(),
                command: self.command.clone(),
                lease: DurationSpec(lease.unwrap_or_default()),
                expires: lease.is_some(),
                renew_every: renew_every.map(DurationSpec),
                answers_within: None,
                node_timeout: None,
                permits: 1,
                promises: Vec::new(),
                denies: Vec::new(),
            }),
        }
    }

    /// Resets each connection that a client has to a server; tells whether it had one.
    pub(super) async fn reset_connections(&self, client: &str) -> bool {
        let Some(network) = self.servers.network() else {
            return false;
        };
        let nodes = self.servers.nodes().iter();
        let nodes: Vec<&str> = nodes.map(|node| node.name.as_str()).collect();
        let count = || {
            let met = nodes.iter().map(|node| network.held_back(client, node));
            met.sum::<u64>()
        };
        let before = count();
        let cut = |node: &&str| network.cut(client, node, CutMode::Reset);
        let _cuts: Vec<LinkGuard> = nodes.iter().map(cut).collect();
        let until = Instant::now() + RESET_WITHIN;
        let mut last = before;
        // Until none has been reset for a while.
        while Instant::now() < until {
            sleep(POLL).await;
            let now = count();
            if now > before && now == last {
                break;
            }
            last = now;
        }
        last > before
    }

    /// Tells whether any server has this key.
    pub(super) async fn is_there(&self, key: &str) -> bool {
        let mut is_there = false;
        for node in self.servers.nodes() {
            is_there |= node.server().has(key).await.is_ok_and(|has| has);
        }
        is_there
    }

    /// The software of the servers.
    pub(super) fn system(&self) -> System {
        self.topology.kind().system()
    }

    /// The processes of the servers.
    pub(super) fn server_processes(&self) -> Vec<ServerProcesses> {
        let nodes = self.servers.nodes().iter();
        nodes
            .filter_map(Node::pid)
            .map(ServerProcesses::of)
            .collect()
    }
}

impl Peer {
    /// Makes one request.
    pub(super) async fn ask(&self, call: Call) -> Result<Answer, String> {
        let own = self.opened.answers_within_ms.map(Duration::from_millis);
        let within = own.unwrap_or_default().max(ANSWERS_WITHIN);
        let answered = self.talk.ask(call, within).await;
        answered
            .map(|(answer, _)| answer)
            .map_err(|mute| mute.to_string())
    }

    /// Asks for a lock.
    pub(super) async fn acquire(&self, key: &str) -> Result<Answer, String> {
        self.ask(Call::Acquire(target(key))).await
    }

    /// Gives one back.
    pub(super) async fn release(&self, key: &str) -> Result<Answer, String> {
        self.ask(Call::Release(target(key))).await
    }
}

/// All of a lock.
pub(super) fn target(key: &str) -> Target {
    Target {
        key: key.to_owned(),
        mode: lockstorm_checker::history::Mode::Write,
        permits: 1,
        wait_ms: None,
    }
}

/// The part of a lock that a reader asks for.
pub(super) fn reader(key: &str) -> Target {
    Target {
        mode: lockstorm_checker::history::Mode::Read,
        ..target(key)
    }
}

/// An answer that should be another.
pub(super) fn unexpected(asked: &str, answer: &Answer) -> String {
    let detail = match answer {
        Answer::Error { text } | Answer::Failed { text } | Answer::Unsupported { text } => {
            format!(": {text}")
        }
        Answer::Hello { protocol, .. } => format!(" of protocol {protocol}"),
        Answer::Opened(_)
        | Answer::Granted { .. }
        | Answer::Renewed { .. }
        | Answer::Released { .. }
        | Answer::Refused { .. }
        | Answer::NotOwner
        | Answer::Held
        | Answer::Suspended
        | Answer::Cancelled
        | Answer::Done => String::new(),
    };
    format!("{asked} was answered with '{}'{detail}", answer.word())
}
