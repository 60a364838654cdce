//! One server: its folder, its process, its life and death.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use lockstorm_nemesis::FaultError;
use lockstorm_scenarios::Memory;
use tokio::time::{Instant, sleep};

use super::binary::Program;
use super::role::{Place, Role};
use crate::connection::probe;
use crate::environment_error::EnvironmentError;
use crate::process;
use crate::process::Page;

/// Time that a server may take from its start to its first answer.
const READY_WITHIN: Duration = Duration::from_secs(10);
/// Pause between two questions whether it is ready.
const POLL: Duration = Duration::from_millis(2);
/// Lines of the log that an error quotes.
const LOG_LINES: usize = 3;

/// A server that the harness starts, kills and starts again.
#[derive(Debug)]
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
    /// `true` if it writes into its configuration what has become of it.
    governs_itself: bool,
    /// Time that it may take to answer what it is asked.
    pub patience: Duration,
    /// Its clock and disk, where we have hands on them.
    pub page: Option<Page>,
    child: Mutex<Option<Child>>,
}

impl Node {
    /// A node that was never started.
    pub fn new(
        name: String,
        (public, private): (SocketAddr, SocketAddr),
        role: Role,
        governs_itself: bool,
        folder: PathBuf,
    ) -> Self {
        Self {
            name,
            public,
            private,
            role,
            governs_itself,
            folder,
            patience: probe::PROBE_TIMEOUT,
            page: None,
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
    pub async fn start_empty(&self, program: &Program) -> Result<(), EnvironmentError> {
        self.start(program, Memory::Lost).await
    }

    /// Starts the server and waits until it answers, and is the process that we started.
    ///
    /// # Errors
    /// When it cannot be started, dies, or stays silent.
    pub async fn start(&self, program: &Program, memory: Memory) -> Result<(), EnvironmentError> {
        let data = self.data();
        if memory == Memory::Lost && data.exists() {
            let emptied = fs::remove_dir_all(&data)
                .and_then(|()| self.page.as_ref().map_or(Ok(()), Page::forget_files));
            emptied.map_err(EnvironmentError::io("empty", show(&data)))?;
        }
        fs::create_dir_all(&data).map_err(EnvironmentError::io("create", show(&data)))?;
        let config = self.folder.join("conf");
        // What a server that governs itself has written there is part of its memory. Of any other
        // it is written again, for whatever was changed while it ran is forgotten.
        if memory == Memory::Lost || !self.governs_itself {
            self.write_config(&data, &config)?;
        }
        let mut command = Command::new(&program.path);
        command
            .arg(absolute(&config)?)
            .args(self.flags())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if let Some(page) = &self.page {
            page.preload(&mut command);
        }
        let child =
            process::spawn(command).map_err(EnvironmentError::io("start", show(&program.path)))?;
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

    const fn flags(&self) -> &'static [&'static str] {
        match self.role {
            Role::Data(_) => &[],
            Role::Sentinel(_) => &["--sentinel"],
        }
    }

    fn write_config(&self, data: &Path, config: &Path) -> Result<(), EnvironmentError> {
        let place = Place {
            bind: self.private,
            public: self.public,
            data: &absolute(data)?,
            log: &absolute(&self.folder.join("log"))?,
            cluster: &absolute(&self.introduce()?)?,
        };
        fs::write(config, place.config(&self.role))
            .map_err(EnvironmentError::io("write", show(config)))
    }

    /// Tells the server about its Cluster, if it is a part of one, unless it has been told.
    fn introduce(&self) -> Result<PathBuf, EnvironmentError> {
        let path = self.folder.join("nodes.conf");
        let text = self.role.data().and_then(|role| role.introduction.as_ref());
        if let Some(text) = text
            && !path.exists()
        {
            fs::write(&path, text).map_err(EnvironmentError::io("write", show(&path)))?;
        }
        Ok(path)
    }

    /// Sends one command past the fabric, and gives its reply as text.
    ///
    /// # Errors
    /// When there is no reply within a named limit, or an error.
    pub async fn ask(&self, args: &[&str]) -> Result<String, FaultError> {
        let reply = probe::ask_within(self.private, args, self.patience).await;
        reply.map_err(|reason| FaultError::Node {
            action: "ask",
            node: self.name.clone(),
            reason,
        })
    }

    async fn wait_until_ready(&self) -> Result<(), EnvironmentError> {
        let deadline = Instant::now() + READY_WITHIN;
        loop {
            if let Some(status) = self.exited() {
                return Err(self.not_ready(&format!("it ended with {status}")));
            }
            let last = match probe::ask(self.private, &["INFO", "server"]).await {
                Ok(info)
                    if probe::info_field(&info, "process_id") == self.pid_text().as_deref() =>
                {
                    match probe::ask(self.private, &["PING"]).await {
                        Ok(_) => return Ok(()),
                        Err(loading) => loading,
                    }
                }
                Ok(_) => "another process answers at its address".to_owned(),
                Err(error) => error,
            };
            if Instant::now() > deadline {
                return Err(self.not_ready(&last));
            }
            sleep(POLL).await;
        }
    }

    fn pid_text(&self) -> Option<String> {
        self.pid().map(|pid| pid.to_string())
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

    /// SIGKILL and burial. Does nothing to a dead server.
    pub fn kill(&self) {
        if let Some(mut child) = self.child.lock().expect("no holder panics").take() {
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

fn absolute(path: &Path) -> Result<PathBuf, EnvironmentError> {
    std::path::absolute(path).map_err(EnvironmentError::io("find", show(path)))
}

fn show(path: &Path) -> String {
    path.display().to_string()
}
