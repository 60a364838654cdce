//! One server: its folder, its process, its life and death.

use std::fs::{self, OpenOptions};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use lockstorm_nemesis::{FaultError, Processes, Server};
use lockstorm_scenarios::Memory;
use tokio::time::{Instant, sleep};

use super::role::Role;
use super::software::Software;
use crate::environment_error::EnvironmentError;
use crate::process;
use crate::process::Page;

/// Pause between two questions whether it is ready.
const POLL: Duration = Duration::from_millis(2);
/// Lines of the log that an error quotes.
const LOG_LINES: usize = 3;

/// A server that the harness starts, kills and starts again.
pub struct Node {
    /// Name, as in the scenario.
    pub name: String,
    /// Address where everybody finds it.
    pub public: SocketAddr,
    /// Address where its process listens.
    pub private: SocketAddr,
    /// Role that it has when it is first started.
    pub role: Role,
    /// Folder with its `conf`, `log` and, while it lives, `data`.
    pub folder: PathBuf,
    /// Its clock and disk, where we have hands on them.
    pub page: Option<Page>,
    software: Box<dyn Software>,
    child: Mutex<Option<Child>>,
}

impl Node {
    /// A node that was never started.
    pub fn new(
        name: String,
        (public, private): (SocketAddr, SocketAddr),
        role: Role,
        folder: PathBuf,
        software: Box<dyn Software>,
    ) -> Self {
        Self {
            name,
            public,
            private,
            role,
            folder,
            page: None,
            software,
            child: Mutex::new(None),
        }
    }

    /// Process id of the living server.
    pub fn pid(&self) -> Option<i32> {
        self.child
            .lock()
            .expect("no holder panics")
            .as_ref()
            .map(|child| child.id().cast_signed())
    }

    /// Starts the server for the first time, see [`Node::start`].
    ///
    /// # Errors
    /// See [`Node::start`].
    pub async fn start_empty(&self) -> Result<(), EnvironmentError> {
        self.start(Memory::Lost).await
    }

    /// Starts the server and waits until it is ready, and the process that we started.
    ///
    /// # Errors
    /// When it cannot be started, dies, or stays silent.
    pub async fn start(&self, memory: Memory) -> Result<(), EnvironmentError> {
        let data = self.data();
        if memory == Memory::Lost && data.exists() {
            let emptied = fs::remove_dir_all(&data)
                .and_then(|()| self.page.as_ref().map_or(Ok(()), Page::forget_files));
            emptied.map_err(EnvironmentError::io("empty", show(&data)))?;
        }
        fs::create_dir_all(&data).map_err(EnvironmentError::io("create", show(&data)))?;
        if memory == Memory::Lost {
            self.software.prepare().await?;
        }
        let mut command = self.software.start_command(memory)?;
        // What a server says before it has its log, or about it, belongs there too.
        let (out, err) = log_of(&self.folder)?;
        command.stdin(Stdio::null()).stdout(out).stderr(err);
        if let Some(page) = &self.page {
            page.preload(&mut command);
        }
        let program = command.get_program().to_string_lossy().into_owned();
        let child = process::spawn(command).map_err(EnvironmentError::io("start", program))?;
        *self.child.lock().expect("no holder panics") = Some(child);
        self.wait_until_ready().await?;
        match &self.page {
            Some(page) if page.attached().ok() != self.pid().map(i64::from) => Err(self.not_ready(
                "it did not load the shim that faults clocks and disks: it may be linked \
                 statically, or made for another C library",
            )),
            Some(_) | None => Ok(()),
        }
    }

    /// Folder of its files.
    pub fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// Sends one command of Redis past the fabric, and gives its reply as text.
    ///
    /// # Errors
    /// When there is no reply within a named limit, or an error.
    pub async fn ask(&self, args: &[&str]) -> Result<String, FaultError> {
        match self.software.redis() {
            Some(redis) => redis.command(args).await,
            None => Err(FaultError::System {
                action: "ask",
                node: self.name.clone(),
                system: self.software.system().name(),
            }),
        }
    }

    /// The server, to be asked what every server is.
    pub fn server(&self) -> &dyn Server {
        &*self.software
    }

    async fn wait_until_ready(&self) -> Result<(), EnvironmentError> {
        let deadline = Instant::now() + self.software.ready_within();
        loop {
            if let Some(status) = self.exited() {
                return Err(self.not_ready(&format!("it ended with {status}")));
            }
            let Err(last) = self.is_ready().await else {
                return Ok(());
            };
            if Instant::now() > deadline {
                return Err(self.not_ready(&last));
            }
            sleep(POLL).await;
        }
    }

    /// Tells whether the server is ready for clients.
    ///
    /// # Errors
    /// In words, what is missing.
    pub async fn is_ready(&self) -> Result<(), String> {
        match self.pid() {
            Some(process) => self.software.is_ready(process).await,
            None => Err("it is dead".to_owned()),
        }
    }

    /// Tells whether the server agrees with the others.
    ///
    /// # Errors
    /// In words, what is missing.
    pub async fn agrees(&self) -> Result<(), String> {
        self.software.agrees().await
    }

    /// Status with which the server ended, if it ended by itself; it then counts as dead.
    pub fn exited(&self) -> Option<String> {
        let mut child = self.child.lock().expect("no holder panics");
        let status = child.as_mut()?.try_wait().ok()??;
        *child = None;
        Some(status.to_string())
    }

    /// The error about a server that is not as it should be, with the end of its log.
    pub fn not_ready(&self, last: &str) -> EnvironmentError {
        let log = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
        let lines: Vec<_> = log.lines().collect();
        let tail = lines[lines.len().saturating_sub(LOG_LINES)..].join(" / ");
        EnvironmentError::NotReady {
            node: self.name.clone(),
            address: self.private.to_string(),
            reason: format!("{last}; its log ends with: {tail}"),
        }
    }

    /// SIGKILL of the server and of all that it has started, and burial. Does nothing to a dead
    /// server.
    pub fn kill(&self) {
        if let Some(mut child) = self.child.lock().expect("no holder panics").take() {
            Processes::of(child.id().cast_signed()).kill();
            // Both fail only for a process that is gone already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.kill();
        // What is of use after a run is in `conf` and `log`; a leftover folder is only untidy.
        let _ = fs::remove_dir_all(self.data());
    }
}

/// Ends of a program's output and errors: both go to the log in the folder of a node.
pub(super) fn log_of(folder: &Path) -> Result<(Stdio, Stdio), EnvironmentError> {
    let path = folder.join("log");
    let opened = OpenOptions::new().create(true).append(true).open(&path);
    let both = opened.and_then(|log| Ok((log.try_clone()?, log)));
    let (out, err) = both.map_err(EnvironmentError::io("write", show(&path)))?;
    Ok((out.into(), err.into()))
}

/// A path from the root.
pub(super) fn absolute(path: &Path) -> Result<PathBuf, EnvironmentError> {
    std::path::absolute(path).map_err(EnvironmentError::io("find", show(path)))
}

/// A path in words.
pub(super) fn show(path: &Path) -> String {
    path.display().to_string()
}
