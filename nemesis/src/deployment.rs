//! Requirements of the nemesis on a deployment: hands on processes, links and clients.

use std::collections::BTreeMap;
use std::net::IpAddr;

use async_trait::async_trait;
use lockstorm_scenarios::{FailoverMode, Memory};

use crate::error::FaultError;
use crate::machines::Machines;
use crate::network::Network;
use crate::process::Processes;
use crate::server::Server;

/// Name of the connections by which the harness watches servers: those of nobody in the run, and so
/// no target of any fault.
pub const CONNECTION_NAME: &str = "lockstorm";

/// Real servers and clients that the nemesis may break.
#[async_trait]
pub trait Deployment: Send + Sync {
    /// Names of the nodes, in order.
    fn nodes(&self) -> Vec<String>;

    /// The nodes that keep no data: they watch over those that do, or stand in front of them.
    fn without_data(&self) -> Vec<String>;

    /// The nodes that take writes now: the primary, or every master. Where servers fail over by
    /// themselves, they are asked.
    async fn writable(&self) -> Vec<String>;

    /// Key at which servers keep the lock `key`: a library may put something before it.
    fn server_key(&self, key: &str) -> String {
        key.to_owned()
    }

    /// The nodes that keep `key` now: those that take writes, or the one of them whose shard of a
    /// Cluster it belongs to.
    async fn keepers(&self, key: &str) -> Vec<String>;

    /// The processes of a node's server; `None` while it is dead.
    fn processes(&self, node: &str) -> Option<Processes>;

    /// `true` if a node's server is there, as far as anybody knows; some are no processes of ours.
    fn lives(&self, node: &str) -> bool {
        self.processes(node).is_some()
    }

    /// SIGKILL of all processes of a node's server, and their burial. Does nothing to a dead one.
    async fn kill(&self, node: &str) -> Result<(), FaultError>;

    /// Starts a dead node's server and waits until it answers; with [`Memory::Lost`] its files
    /// are removed first. A former primary comes back as it was: a primary.
    async fn start(&self, node: &str, memory: Memory) -> Result<(), FaultError>;

    /// `true` if the others make a replica of a former primary that comes back.
    fn rejoins(&self) -> bool;

    /// Makes a replica the primary and has clients use it from their next operation on.
    async fn promote(&self, node: &str) -> Result<(), FaultError>;

    /// Has the servers themselves put a replica in the place of its primary, as `mode` says; they
    /// may still be at it when this returns.
    ///
    /// # Errors
    /// [`FaultError::Node`] where they refuse, or do not know how.
    async fn failover(&self, node: &str, mode: FailoverMode) -> Result<(), FaultError>;

    /// A node's server, to be asked.
    ///
    /// # Errors
    /// See [`FaultError::no_node`].
    fn server(&self, node: &str) -> Result<&dyn Server, FaultError>;

    /// The switchable network, if this run has one.
    fn network(&self) -> Option<&dyn Network>;

    /// The clocks and disks of the nodes, if this run has hands on them.
    fn machines(&self) -> Option<&dyn Machines>;

    /// The clients.
    fn clients(&self) -> &dyn Clients;

    /// Connections of this run's clients to a node where others use the servers as well, by the
    /// server's ids, each with the address of its client. `None` where nobody else does.
    fn own_connections(&self, _node: &str) -> Option<BTreeMap<String, IpAddr>> {
        None
    }

    /// The address that the connections of a client come from; `None` if there is no such client.
    fn client_address(&self, client: &str) -> Option<IpAddr>;
}

/// State of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientState {
    /// Goes about its business.
    Running,
    /// Stands still: it sends nothing and sees no reply.
    Paused,
    /// Will die after some further commands.
    DeathScheduled,
    /// Dead; it does not come back.
    Dead,
}

/// The clients of a run, as the nemesis sees them.
pub trait Clients: Send + Sync {
    /// Names of the clients, in order.
    fn names(&self) -> Vec<String>;

    /// State of a client; `None` if there is no such client.
    fn state(&self, client: &str) -> Option<ClientState>;

    /// Process id of a client that is a process of its own; `None` for a task, and for the dead.
    fn process(&self, _client: &str) -> Option<i32> {
        None
    }

    /// Number of commands that a client has sent: a paused or dead client's number stands still.
    fn commands(&self, client: &str) -> Option<u64>;

    /// Stops a client where it stands.
    ///
    /// # Errors
    /// [`FaultError::UnknownClient`], or what kept it from happening.
    fn pause(&self, client: &str) -> Result<(), FaultError>;

    /// Lets a paused client go on.
    ///
    /// # Errors
    /// [`FaultError::UnknownClient`], or what kept it from happening.
    fn resume(&self, client: &str) -> Result<(), FaultError>;

    /// Stalls a client's watchdog, or lets it go on: the renewals that fall due meanwhile are not
    /// sent.
    ///
    /// # Errors
    /// [`FaultError::UnknownClient`], or what kept it from happening.
    fn stall_watchdog(&self, client: &str, stalled: bool) -> Result<(), FaultError>;

    /// `true` if a client's watchdog is stalled; `None` if there is no such client.
    fn watchdog_is_stalled(&self, client: &str) -> Option<bool>;

    /// Number of renewals that fell due while a client's watchdog was stalled, and were not sent.
    fn renewals_missed(&self, client: &str) -> Option<u64>;

    /// Number of renewals of a client's watchdog that were sent.
    fn renewals_sent(&self, client: &str) -> Option<u64>;

    /// Kills the thread of a client: it does nothing more, while its process lives, and with it the
    /// watchdog.
    ///
    /// # Errors
    /// [`FaultError::UnknownClient`], or what kept it from happening.
    fn kill_thread(&self, client: &str) -> Result<(), FaultError>;

    /// `true` if the thread of a client was killed; `None` if there is no such client.
    fn thread_is_dead(&self, client: &str) -> Option<bool>;

    /// Kills a client, at once or when `after_commands` further commands were answered.
    ///
    /// # Errors
    /// [`FaultError::UnknownClient`], or what kept it from happening.
    fn kill(&self, client: &str, after_commands: Option<u32>) -> Result<(), FaultError>;
}
