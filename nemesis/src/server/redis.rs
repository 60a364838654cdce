//! Servers of Redis and its kin: the answers to what every server is asked, and their commands.

use async_trait::async_trait;
use lockstorm_scenarios::System;

use super::questions::{Rank, Server};
use crate::error::FaultError;

/// A server that takes the commands of Redis.
#[async_trait]
pub trait Redis: Send + Sync {
    /// Name of the node.
    fn name(&self) -> &str;

    /// Sends one command past any cut link, and gives its reply as text.
    ///
    /// # Errors
    /// [`FaultError::Node`] when there is no reply within a named limit, or an error reply.
    async fn command(&self, args: &[&str]) -> Result<String, FaultError>;
}

#[async_trait]
impl<T: Redis> Server for T {
    fn system(&self) -> System {
        System::Redis
    }

    fn greeting(&self) -> &'static str {
        "PING"
    }

    async fn greet(&self) -> Result<(), FaultError> {
        self.command(&["PING"]).await.map(|_| ())
    }

    async fn run(&self) -> Result<String, FaultError> {
        info(self, "server", "run_id").await
    }

    async fn rank(&self) -> Result<Rank, FaultError> {
        let role = info(self, "replication", "role").await?;
        Ok(Rank {
            leads: role == "master",
            term: 0,
            words: format!("INFO replication says role:{role}"),
        })
    }

    async fn clock_us(&self) -> Result<i64, FaultError> {
        let reply = self.command(&["TIME"]).await?;
        let mut numbers = reply.lines().map(str::parse::<i64>);
        match (numbers.next(), numbers.next()) {
            (Some(Ok(seconds)), Some(Ok(micros))) => Ok(seconds * 1_000_000 + micros),
            _ => Err(FaultError::Node {
                action: "read the clock of",
                node: self.name().to_owned(),
                reason: format!("TIME was answered '{reply}'"),
            }),
        }
    }

    async fn entries(&self) -> Result<u64, FaultError> {
        count(self, &["DBSIZE"]).await
    }

    async fn has(&self, key: &str) -> Result<bool, FaultError> {
        Ok(count(self, &["EXISTS", key]).await? == 1)
    }

    /// It has no key, or only keys that were written since it started: under load clients set new
    /// keys at once.
    async fn has_no_old_entry(&self) -> Result<bool, FaultError> {
        let keys = self.entries().await?;
        let written = info_count(self, "persistence", "rdb_changes_since_last_save").await?;
        // Redis counts the reading of an append-only file as writing: there only an empty server
        // proves the loss.
        let reads_no_file = info(self, "persistence", "aof_enabled").await? == "0";
        Ok(keys == 0 || keys <= written && reads_no_file)
    }

    /// It saves no file, and has no primary. A sentinel says nothing of files.
    async fn keeps_nothing(&self) -> bool {
        let saves = self.command(&["CONFIG", "GET", "save"]).await;
        let appends = info(self, "persistence", "aof_enabled").await;
        let leads = self.rank().await.is_ok_and(|rank| rank.leads);
        let has_no_file = saves.is_ok_and(|reply| reply.trim_end() == "save")
            && appends.is_ok_and(|enabled| enabled == "0");
        leads && has_no_file
    }

    async fn remove(&self, key: &str) -> Result<u64, FaultError> {
        count(self, &["DEL", key]).await
    }

    /// Replication carries an empty message to a channel that nobody hears.
    async fn speak(&self) -> Result<(), FaultError> {
        self.command(&["PUBLISH", "lockstorm", ""])
            .await
            .map(|_| ())
    }

    fn redis(&self) -> Option<&dyn Redis> {
        Some(self)
    }
}

/// One field of a section of a server's INFO.
pub(crate) async fn info(
    server: &dyn Redis,
    section: &str,
    field: &str,
) -> Result<String, FaultError> {
    let text = server.command(&["INFO", section]).await?;
    text.lines()
        .filter_map(|line| line.trim_end().split_once(':'))
        .find(|(name, _)| *name == field)
        .map(|(_, value)| value.to_owned())
        .ok_or_else(|| FaultError::Node {
            action: "read INFO of",
            node: server.name().to_owned(),
            reason: format!("section {section} has no field {field}"),
        })
}

/// Reads a field of INFO as a number.
pub(crate) async fn info_count(
    server: &dyn Redis,
    section: &str,
    field: &str,
) -> Result<u64, FaultError> {
    number(server, &info(server, section, field).await?)
}

/// A command that is answered with a number.
pub(crate) async fn count(server: &dyn Redis, args: &[&str]) -> Result<u64, FaultError> {
    number(server, &server.command(args).await?)
}

fn number(server: &dyn Redis, text: &str) -> Result<u64, FaultError> {
    text.parse().map_err(|_| FaultError::Node {
        action: "read a number of",
        node: server.name().to_owned(),
        reason: format!("it answered '{text}'"),
    })
}
