//! pgbouncer: a pooler of connections in front of the primary of PostgreSQL, where clients come.
//!
//! It keeps nothing but connections. It refuses to run as root, see [`not_as_root`].

use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use async_trait::async_trait;
use lockstorm_nemesis::{FaultError, Rank, Redis, Server};
use lockstorm_scenarios::{Memory, Pooler, System};

use super::node::{Node, absolute, show};
use super::shape::NodePlace;
use super::software::Software;
use crate::connection::ask_pooler;
use crate::environment_error::EnvironmentError;
use crate::process::{Facade, bind_source, not_as_root};

/// Time that a pooler may take from its start to its first answer.
const READY_WITHIN: Duration = Duration::from_secs(10);
/// Time that it may take to answer what it is asked.
const PATIENCE: Duration = Duration::from_millis(500);
/// Settings of every pooler; a server that was away is tried again after a second.
const SETTINGS: &str = "auth_type = trust\nauth_file = users\nadmin_users = lockstorm\n\
                        unix_socket_dir =\nmax_client_conn = 1000\nserver_login_retry = 1\n\
                        ignore_startup_parameters = extra_float_digits\n";
/// Everybody comes under this name, without a password.
const USERS: &str = "\"lockstorm\" \"\"\n";

/// One pooler.
pub(super) struct PoolerServer {
    pub name: String,
    pub public: SocketAddr,
    pub private: SocketAddr,
    /// Where it finds the primary at its first start.
    pub primary: SocketAddr,
    pub facades: Vec<Facade>,
    pub folder: PathBuf,
    pub program: PathBuf,
    pub mode: Pooler,
}

impl PoolerServer {
    pub(super) fn new(place: &NodePlace<'_>, program: PathBuf, mode: Pooler) -> Self {
        Self {
            name: place.name.to_owned(),
            public: place.public,
            private: place.private,
            primary: place.all[0].public,
            facades: place.facades(),
            folder: place.folder.to_owned(),
            program,
            mode,
        }
    }

    fn failure(&self, reason: String) -> FaultError {
        FaultError::Node {
            action: "ask",
            node: self.name.clone(),
            reason,
        }
    }

    fn keeps_no_locks<T>(&self) -> Result<T, FaultError> {
        Err(self.failure("a pooler keeps no locks".to_owned()))
    }

    /// Its own process, as it writes it down.
    fn process(&self) -> Option<i32> {
        let written = fs::read_to_string(self.folder.join("data/pid")).ok()?;
        written.trim().parse().ok()
    }

    fn write(&self, name: &str, text: &str) -> Result<PathBuf, EnvironmentError> {
        let path = absolute(&self.folder.join("data"))?.join(name);
        fs::write(&path, text).map_err(EnvironmentError::io("write", show(&path)))?;
        Ok(path)
    }

    /// The file that says which server it is in front of, and how.
    fn config(&self) -> Result<String, EnvironmentError> {
        let data = absolute(&self.folder.join("data"))?;
        let log = absolute(&self.folder.join("log"))?;
        let settings = SETTINGS.replace("= users", &format!("= {}", show(&data.join("users"))));
        Ok(format!(
            "[pgbouncer]\nlisten_addr = {}\nlisten_port = {}\npool_mode = {}\n\
             logfile = {}\npidfile = {}\n{settings}\n%include {}\n",
            self.private.ip(),
            self.private.port(),
            self.mode.name(),
            show(&log),
            show(&data.join("pid")),
            show(&data.join(SERVER)),
        ))
    }
}

/// Name of the file that says which server it leads to.
const SERVER: &str = "server";

fn way_to(primary: SocketAddr) -> String {
    let (host, port) = (primary.ip(), primary.port());
    format!("[databases]\n* = host={host} port={port}\n")
}

/// Tells whether a pooler leads to the server with this address.
pub(super) fn leads_to(pooler: &Node, server: SocketAddr) -> bool {
    let led = fs::read_to_string(pooler.data().join(SERVER));
    led.is_ok_and(|led| led == way_to(server))
}

/// Has a pooler lead to another server; connections to the former one are closed once nobody uses
/// them.
///
/// # Errors
/// In words, when its file cannot be written, or it does not read it again.
pub(super) async fn lead(pooler: &Node, primary: SocketAddr) -> Result<(), String> {
    let path = pooler.data().join(SERVER);
    fs::write(path, way_to(primary)).map_err(|error| error.to_string())?;
    let told = ask_pooler(pooler.private, "RELOAD", PATIENCE).await;
    told.map(|_| ())
}

#[async_trait]
impl Server for PoolerServer {
    fn system(&self) -> System {
        System::Postgres
    }

    fn greeting(&self) -> &'static str {
        "SHOW VERSION"
    }

    async fn greet(&self) -> Result<(), FaultError> {
        let answer = ask_pooler(self.private, "SHOW VERSION", PATIENCE).await;
        answer.map(|_| ()).map_err(|reason| self.failure(reason))
    }

    async fn run(&self) -> Result<String, FaultError> {
        self.greet().await?;
        match self.process() {
            Some(process) => Ok(format!("of process {process}")),
            None => Err(self.failure("it does not say which process it is".to_owned())),
        }
    }

    /// Nobody asks who has the place of a server that keeps nothing.
    async fn rank(&self) -> Result<Rank, FaultError> {
        self.keeps_no_locks()
    }

    async fn clock_us(&self) -> Result<i64, FaultError> {
        Err(self.failure("a pooler tells nobody the time".to_owned()))
    }

    async fn entries(&self) -> Result<u64, FaultError> {
        Ok(0)
    }

    async fn has(&self, _key: &str) -> Result<bool, FaultError> {
        self.keeps_no_locks()
    }

    async fn has_no_old_entry(&self) -> Result<bool, FaultError> {
        Ok(true)
    }

    async fn keeps_nothing(&self) -> bool {
        true
    }

    async fn remove(&self, _key: &str) -> Result<u64, FaultError> {
        self.keeps_no_locks()
    }

    /// It talks to its server only where clients do.
    async fn speak(&self) -> Result<(), FaultError> {
        Ok(())
    }

    fn redis(&self) -> Option<&dyn Redis> {
        None
    }
}

#[async_trait]
impl Software for PoolerServer {
    fn start_command(&self, memory: Memory) -> Result<Command, EnvironmentError> {
        if memory == Memory::Lost {
            self.write(SERVER, &way_to(self.primary))?;
        }
        self.write("users", USERS)?;
        let config = self.write("pgbouncer.ini", &self.config()?)?;
        let mut command = Command::new(&self.program);
        command.arg("--quiet").arg(config);
        not_as_root(&mut command);
        if let IpAddr::V4(source) = self.public.ip() {
            bind_source(&mut command, source, self.facades.clone())
                .map_err(EnvironmentError::io("start", self.name.clone()))?;
        }
        Ok(command)
    }

    fn ready_within(&self) -> Duration {
        READY_WITHIN
    }

    async fn is_ready(&self, process: i32) -> Result<(), String> {
        if self.process() != Some(process) {
            return Err("it has not said which process it is".to_owned());
        }
        self.greet().await.map_err(|error| error.to_string())
    }
}
