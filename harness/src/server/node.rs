//! One server: its folder, its process, its life and death.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use lockstorm_scenarios::{Memory, Persistence};
use tokio::time::{Instant, sleep};

use super::binary::Program;
use super::child;
use super::config::NodeConfig;
use super::error::EnvironmentError;
use super::probe;

/// How long a server may take from its start to its first answer.
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
    /// Where everybody finds it.
    pub public: SocketAddr,
    /// Where its process listens.
    pub private: SocketAddr,
    /// The primary that it follows when it starts, if it is a replica.
    pub primary: Option<SocketAddr>,
    /// What it keeps on disk.
    pub persistence: Persistence,
    /// Folder with its `conf`, `log` and, while it lives, `data`.
    pub folder: PathBuf,
    /// What its topology asks for besides.
    pub settings: Vec<(&'static str, String)>,
    /// What it knows of its Cluster when it starts for the first time. From then on it keeps that
    /// itself, in a file that survives even a loss of its memory: it forgets keys, and not who it
    /// is.
    pub introduction: Option<String>,
    child: Mutex<Option<Child>>,
}

impl Node {
    /// A node that was never started.
    pub fn new(
        name: String,
        (public, private): (SocketAddr, SocketAddr),
        primary: Option<SocketAddr>,
        persistence: Persistence,
        folder: PathBuf,
    ) -> Self {
        Self {
            name,
            public,
            private,
            primary,
            persistence,
            folder,
            settings: Vec::new(),
            introduction: None,
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

    /// Starts the server and waits until it answers, and is the process that we started.
    ///
    /// # Errors
    /// When it cannot be started, dies, or stays silent.
    pub async fn start(&self, program: &Program, memory: Memory) -> Result<(), EnvironmentError> {
        let data = self.folder.join("data");
        if memory == Memory::Lost && data.exists() {
            fs::remove_dir_all(&data).map_err(EnvironmentError::io("empty", show(&data)))?;
        }
        fs::create_dir_all(&data).map_err(EnvironmentError::io("create", show(&data)))?;
        let config = self.write_config(&data)?;
        let mut command = Command::new(&program.path);
        command
            .arg(config)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let child =
            child::spawn(command).map_err(EnvironmentError::io("start", show(&program.path)))?;
        *self.child.lock().expect("no holder panics") = Some(child);
        self.wait_until_ready().await
    }

    /// Writes the configuration anew: a demoted server may have rewritten it.
    fn write_config(&self, data: &std::path::Path) -> Result<PathBuf, EnvironmentError> {
        let absolute = |path: &std::path::Path| {
            std::path::absolute(path).map_err(EnvironmentError::io("find", show(path)))
        };
        let path = self.folder.join("conf");
        let cluster_file = match &self.introduction {
            Some(text) => Some(absolute(&self.introduce(text)?)?),
            None => None,
        };
        let text = NodeConfig {
            bind: self.private,
            public: self.public,
            primary: self.primary,
            persistence: self.persistence,
            data: &absolute(data)?,
            log: &absolute(&self.folder.join("log"))?,
            cluster_file: cluster_file.as_deref(),
            settings: &self.settings,
        }
        .render();
        fs::write(&path, text).map_err(EnvironmentError::io("write", show(&path)))?;
        Ok(path)
    }

    /// Tells the server about its Cluster, unless it has been told.
    fn introduce(&self, text: &str) -> Result<PathBuf, EnvironmentError> {
        let path = self.folder.join("nodes.conf");
        if !path.exists() {
            fs::write(&path, text).map_err(EnvironmentError::io("write", show(&path)))?;
        }
        Ok(path)
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

    /// How the server ended, if it ended by itself; it then counts as dead.
    pub fn exited(&self) -> Option<String> {
        let mut child = self.child.lock().expect("no holder panics");
        let status = child.as_mut()?.try_wait().ok()??;
        *child = None;
        Some(status.to_string())
    }

    fn not_ready(&self, last: &str) -> EnvironmentError {
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
        let _ = fs::remove_dir_all(self.folder.join("data"));
    }
}

fn show(path: &std::path::Path) -> String {
    path.display().to_string()
}
