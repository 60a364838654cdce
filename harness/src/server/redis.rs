//! A server of Redis or its kin, as the software of a node.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use async_trait::async_trait;
use lockstorm_nemesis::{FaultError, Redis};
use lockstorm_scenarios::Memory;

use super::binary::Program;
use super::node::{absolute, show};
use super::role::{Place, Role};
use super::software::Software;
use crate::connection::probe;
use crate::environment_error::EnvironmentError;

/// Time that a server may take from its start to its first answer.
const READY_WITHIN: Duration = Duration::from_secs(10);

/// A server with its configuration, and the way to ask it.
#[derive(Clone, Debug)]
pub struct RedisServer {
    /// Name of its node.
    pub name: String,
    /// Program that it runs.
    pub program: Program,
    /// Address where everybody finds it.
    pub public: SocketAddr,
    /// Address where its process listens.
    pub private: SocketAddr,
    /// Role that it has when it is first started.
    pub role: Role,
    /// Folder with its `conf`, `log` and, while it lives, `data`.
    pub folder: PathBuf,
    /// `true` if it writes into its configuration what has become of it.
    pub governs_itself: bool,
    /// Time that it may take to answer what it is asked.
    pub patience: Duration,
}

impl RedisServer {
    const fn flags(&self) -> &'static [&'static str] {
        match self.role {
            Role::Data(_) | Role::Pooler => &[],
            Role::Sentinel(_) => &["--sentinel"],
        }
    }

    fn write_config(&self, config: &Path) -> Result<(), EnvironmentError> {
        let place = Place {
            bind: self.private,
            public: self.public,
            data: &absolute(&self.folder.join("data"))?,
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
}

#[async_trait]
impl Redis for RedisServer {
    fn name(&self) -> &str {
        &self.name
    }

    async fn command(&self, args: &[&str]) -> Result<String, FaultError> {
        let reply = probe::ask_within(self.private, args, self.patience).await;
        reply.map_err(|reason| FaultError::Node {
            action: "ask",
            node: self.name.clone(),
            reason,
        })
    }
}

#[async_trait]
impl Software for RedisServer {
    fn start_command(&self, memory: Memory) -> Result<Command, EnvironmentError> {
        let config = self.folder.join("conf");
        // What a server that governs itself has written there is part of its memory. Of any other
        // it is written again, for whatever was changed while it ran is forgotten.
        if memory == Memory::Lost || !self.governs_itself {
            self.write_config(&config)?;
        }
        let mut command = Command::new(&self.program.path);
        command.arg(absolute(&config)?).args(self.flags());
        Ok(command)
    }

    fn ready_within(&self) -> Duration {
        READY_WITHIN
    }

    /// It says which process it is; then it may still be loading its file.
    async fn is_ready(&self, process: i32) -> Result<(), String> {
        let info = probe::ask(self.private, &["INFO", "server"]).await?;
        if probe::info_field(&info, "process_id") != Some(&*process.to_string()) {
            return Err("another process answers at its address".to_owned());
        }
        probe::ask(self.private, &["PING"]).await.map(|_| ())
    }
}
