//! Servers of a system that Lockstorm does not know: whatever it can say of them, the scenario's
//! commands tell.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures_util::future::try_join_all;
use lockstorm_nemesis::{FaultError, Processes, Rank, Redis, Server};
use lockstorm_scenarios::{Custom, Memory, Persistence, System};
use tokio::time::sleep;

use super::binary::{Program, on_path, said_by};
use super::node::{Node, absolute, log_of, show};
use super::role::Role;
use super::shape::{NodePlace, Shape, places};
use super::software::Software;
use crate::carried::remedy_for;
use crate::connection::Route;
use crate::environment_error::EnvironmentError;
use crate::process::{self, Facade, bind_source};

/// Time that a server may take to answer, the start of the program that asks it included.
const PATIENCE: Duration = Duration::from_secs(5);
/// Time that the servers may take to answer again when all faults are healed.
const RECOVERS_WITHIN: Duration = Duration::from_secs(30);
/// Pause between two questions: each starts a program.
const POLL: Duration = Duration::from_millis(50);
/// Pause between two looks whether a command has ended.
const LOOK: Duration = Duration::from_millis(5);

/// Where a server is, for the commands that are about it.
struct Spot {
    name: String,
    /// Its number among all, from 1 on.
    number: usize,
    public: SocketAddr,
    private: SocketAddr,
    /// Where everybody finds each of the servers.
    all: Vec<String>,
    folder: PathBuf,
}

impl Spot {
    /// A command with the words of the scenario, and this server in their places.
    fn command(&self, words: &[String]) -> Result<Command, EnvironmentError> {
        let folder = absolute(&self.folder)?;
        let places = [
            ("{host}", self.private.ip().to_string()),
            ("{port}", self.private.port().to_string()),
            ("{data}", show(&folder.join("data"))),
            ("{node}", self.name.clone()),
            ("{n}", self.number.to_string()),
            ("{address}", self.public.to_string()),
            ("{addresses}", self.all.join(",")),
        ];
        let fill = |word: &String| {
            let mut word = word.clone();
            for (place, value) in &places {
                word = word.replace(place, value);
            }
            word
        };
        let mut words = words.iter().map(fill);
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).stdin(Stdio::null());
        Ok(command)
    }

    /// Runs a command to its end; what it prints is appended to the log.
    async fn run(&self, words: &[String], within: Duration) -> Result<(), EnvironmentError> {
        let mut command = self.command(words)?;
        let program = command.get_program().to_string_lossy().into_owned();
        let (out, err) = log_of(&self.folder)?;
        command.stdout(out).stderr(err);
        let ended = ended_well(command, within).await;
        ended.map_err(|reason| {
            let log = show(&self.folder.join("log"));
            let failed = std::io::Error::other(format!("{reason}; see {log}"));
            EnvironmentError::io("run", program)(failed)
        })
    }
}

/// One server.
struct CustomServer {
    custom: Custom,
    spot: Spot,
    facades: Vec<Facade>,
    /// Its process at its last start; 0 before the first one.
    process: AtomicI32,
}

impl CustomServer {
    fn failure(&self, reason: String) -> FaultError {
        FaultError::Node {
            action: "ask",
            node: self.spot.name.clone(),
            reason,
        }
    }

    fn unknown<T>(&self, what: &str) -> Result<T, FaultError> {
        let name = &self.custom.name;
        Err(self.failure(format!("nobody knows how to ask {name} for {what}")))
    }
}

/// Addresses, in words.
fn addresses(all: impl Iterator<Item = SocketAddr>) -> Vec<String> {
    all.map(|address| address.to_string()).collect()
}

/// Looks whether a program is there: a path, or a name on PATH. One that is not would show only
/// after all patience with the server.
fn find(program: &str) -> Result<(), EnvironmentError> {
    let path = Path::new(program);
    let is_there = if program.contains(['/', '{']) {
        path.exists() || program.contains('{')
    } else {
        on_path(vec![program]).any(|path| path.is_file())
    };
    if is_there {
        return Ok(());
    }
    let remedy = remedy_for(program);
    let failed = std::io::Error::other(format!("it is not there, or not on PATH; {remedy}"));
    Err(EnvironmentError::io("find the program", program)(failed))
}

/// A command under way; it is killed with all that it has started where nobody waits for it.
struct Underway(Child);

impl Drop for Underway {
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(None)) {
            Processes::of(self.0.id().cast_signed()).kill();
            // It fails only for a process that is gone already.
            let _ = self.0.wait();
        }
    }
}

/// Runs a command to its end.
///
/// # Errors
/// In words, when it cannot be started, ends with another status than 0, or not in time.
async fn ended_well(command: Command, within: Duration) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let child = process::spawn(command);
    let mut child = Underway(child.map_err(|error| format!("'{program}' cannot be run: {error}"))?);
    let deadline = Instant::now() + within;
    loop {
        match child.0.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(format!("'{program}' ended with {status}")),
            Ok(None) if Instant::now() < deadline => sleep(LOOK).await,
            Ok(None) => return Err(format!("'{program}' did not end within {within:?}")),
            Err(error) => return Err(error.to_string()),
        }
    }
}

#[async_trait]
impl Server for CustomServer {
    fn system(&self) -> System {
        System::Custom
    }

    fn greeting(&self) -> &'static str {
        "the command `answers`"
    }

    async fn greet(&self) -> Result<(), FaultError> {
        let asked = self.spot.command(&self.custom.answers);
        let mut command = asked.map_err(|error| self.failure(error.to_string()))?;
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let answered = ended_well(command, PATIENCE).await;
        answered.map_err(|reason| self.failure(reason))
    }

    async fn run(&self) -> Result<String, FaultError> {
        self.greet().await?;
        Ok(format!(
            "of process {}",
            self.process.load(Ordering::Relaxed)
        ))
    }

    async fn rank(&self) -> Result<Rank, FaultError> {
        self.unknown("its place among the others")
    }

    async fn clock_us(&self) -> Result<i64, FaultError> {
        self.unknown("the time")
    }

    async fn entries(&self) -> Result<u64, FaultError> {
        self.unknown("the number of its entries")
    }

    async fn has(&self, _key: &str) -> Result<bool, FaultError> {
        self.unknown("a key")
    }

    async fn has_no_old_entry(&self) -> Result<bool, FaultError> {
        self.unknown("its entries")
    }

    async fn keeps_nothing(&self) -> bool {
        false
    }

    async fn remove(&self, _key: &str) -> Result<u64, FaultError> {
        self.unknown("the removal of a key")
    }

    /// Nobody knows how to make it; servers that belong together are seldom silent.
    async fn speak(&self) -> Result<(), FaultError> {
        Ok(())
    }

    fn redis(&self) -> Option<&dyn Redis> {
        None
    }
}

#[async_trait]
impl Software for CustomServer {
    async fn prepare(&self) -> Result<(), EnvironmentError> {
        if self.custom.prepare.is_empty() {
            return Ok(());
        }
        let within = self.ready_within();
        self.spot.run(&self.custom.prepare, within).await
    }

    fn start_command(&self, _memory: Memory) -> Result<Command, EnvironmentError> {
        let mut command = self.spot.command(&self.custom.start)?;
        if let IpAddr::V4(source) = self.spot.public.ip() {
            bind_source(&mut command, source, self.facades.clone())
                .map_err(EnvironmentError::io("start", self.spot.name.clone()))?;
        }
        Ok(command)
    }

    fn ready_within(&self) -> Duration {
        self.custom.ready_within.0
    }

    async fn is_ready(&self, process: i32) -> Result<(), String> {
        let answered = self.greet().await.map_err(|error| error.to_string());
        match answered {
            Ok(()) => self.process.store(process, Ordering::Relaxed),
            Err(_) => sleep(POLL).await,
        }
        answered
    }
}

#[async_trait]
impl Shape for Custom {
    fn roles(&self, public: &[SocketAddr]) -> Vec<Role> {
        vec![Role::primary(Persistence::AofAlways); public.len()]
    }

    fn program(&self, _redis: Program) -> Result<Program, EnvironmentError> {
        let programs = self.commands().map(|(_, words)| words.first());
        for program in programs.into_iter().flatten() {
            find(program)?;
        }
        let path = PathBuf::from(self.start.first().cloned().unwrap_or_default());
        let Some((program, arguments)) = self.version.split_first() else {
            let version = self.name.clone();
            return Ok(Program { path, version });
        };
        let mut command = Command::new(program);
        command.args(arguments);
        let said = said_by(command).map_err(|reason| {
            let failed = std::io::Error::other(format!("it {reason}"));
            EnvironmentError::io("ask for its version", program)(failed)
        })?;
        let version = said.lines().next().unwrap_or_default().trim().to_owned();
        Ok(Program { path, version })
    }

    fn software(&self, place: NodePlace<'_>) -> Box<dyn Software> {
        Box::new(CustomServer {
            custom: self.clone(),
            facades: place.facades(),
            spot: Spot {
                name: place.name.to_owned(),
                number: place.number(),
                public: place.public,
                private: place.private,
                all: addresses(place.all.iter().map(|node| node.public)),
                folder: place.folder.to_owned(),
            },
            process: AtomicI32::new(0),
        })
    }

    fn route(&self, nodes: &[Node]) -> Route {
        Route::new(places(nodes))
    }

    async fn start(&self, nodes: &[Node]) -> Result<(), EnvironmentError> {
        try_join_all(nodes.iter().map(Node::start_empty)).await?;
        let Some(first) = nodes.first().filter(|_| !self.join.is_empty()) else {
            return Ok(());
        };
        let spot = Spot {
            name: first.name.clone(),
            number: 1,
            public: first.public,
            private: first.private,
            all: addresses(nodes.iter().map(|node| node.public)),
            folder: first.folder.clone(),
        };
        spot.run(&self.join, self.ready_within.0).await
    }

    async fn recover(&self, nodes: &[Node]) -> Result<(), String> {
        for node in nodes.iter().filter(|node| node.pid().is_some()) {
            let deadline = Instant::now() + RECOVERS_WITHIN;
            while let Err(error) = node.server().greet().await {
                if Instant::now() > deadline {
                    return Err(error.to_string());
                }
                sleep(POLL).await;
            }
        }
        Ok(())
    }
}
