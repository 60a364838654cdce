//! Software of a node: how a server of some system is set up, started, and known to be ready.
//!
//! For: one implementation a system. Not for: the life of the process, which every node has, nor
//! what servers are to each other, which the topology knows.

use std::process::Command;
use std::time::Duration;

use async_trait::async_trait;
use lockstorm_nemesis::Server;
use lockstorm_scenarios::Memory;

use crate::environment_error::EnvironmentError;

/// Software of one node, which also answers what faults ask of it.
#[async_trait]
pub trait Software: Server {
    /// Makes the empty folder of its data ready, before the first start and after each loss.
    ///
    /// # Errors
    /// When that fails.
    async fn prepare(&self) -> Result<(), EnvironmentError> {
        Ok(())
    }

    /// Writes the files that a start takes, and gives the command that starts the server; the
    /// folder of its data is there, and empty where its memory is lost.
    ///
    /// # Errors
    /// When a file cannot be written.
    fn start_command(&self, memory: Memory) -> Result<Command, EnvironmentError>;

    /// Time that the server may take from its start to being ready.
    fn ready_within(&self) -> Duration;

    /// Tells whether the server is ready, and the process that we started.
    ///
    /// # Errors
    /// In words, what is missing.
    async fn is_ready(&self, process: i32) -> Result<(), String>;

    /// Tells whether the server knows a leader and a majority, where there is such a thing.
    ///
    /// # Errors
    /// In words, what is missing.
    async fn agrees(&self) -> Result<(), String> {
        Ok(())
    }
}
