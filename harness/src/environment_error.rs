//! Refusals of the environment: none of them is the lock's fault.

use std::io;
use std::path::PathBuf;

use lockstorm_nemesis::NamespaceError;

/// The run could not be set up; every message names the remedy.
#[derive(Debug, thiserror::Error)]
pub enum EnvironmentError {
    /// No server program anywhere.
    #[error(
        "no redis-server found (looked at --redis-server, LOCKSTORM_REDIS_SERVER, PATH and \
         .tools); run `make setup`, or install Debian's package redis-server"
    )]
    NoServer,
    /// No server of another system.
    #[error(
        "no {name} found (looked on PATH); install Debian's package {package}, or have another \
         topology"
    )]
    NoOther {
        /// The program.
        name: &'static str,
        /// Debian's package that has it.
        package: &'static str,
    },
    /// The server of another system does not work.
    #[error("'{path}' is no usable {name}: {reason}; have another one stand before it on PATH")]
    BadOther {
        /// The program's name.
        name: &'static str,
        /// The program.
        path: PathBuf,
        /// Answer when it was asked for its version.
        reason: String,
    },
    /// No jars of ZooKeeper.
    #[error(
        "no ZooKeeper found in {folder}; install Debian's package zookeeper, name the folder of \
         its jars in LOCKSTORM_ZOOKEEPER, or have another topology"
    )]
    NoZookeeper {
        /// The folder that was looked at.
        folder: PathBuf,
    },
    /// No Java for ZooKeeper.
    #[error(
        "no java found (looked on PATH), which ZooKeeper takes; install Debian's package \
         default-jre-headless"
    )]
    NoJava,
    /// The named program does not work.
    #[error("'{path}' is no usable redis-server: {reason}; name another with --redis-server")]
    BadServer {
        /// The program.
        path: PathBuf,
        /// Answer when it was asked for its version.
        reason: String,
    },
    /// No free loopback addresses.
    #[error(
        "port {port} is taken on every loopback address that was tried ({last}): something \
         listens on all addresses there; choose another with --port"
    )]
    PortTaken {
        /// The port.
        port: u16,
        /// Answer to the last try.
        last: io::Error,
    },
    /// No room for the second port of servers that talk to each other.
    #[error(
        "port {port} leaves no room for the port by which servers talk to each other, 10000 above \
         it; choose one up to {port_max} with --port"
    )]
    NoPeerPort {
        /// The port.
        port: u16,
        /// The greatest that would do.
        port_max: u16,
    },
    /// No network of our own.
    #[error(transparent)]
    Network(#[from] NamespaceError),
    /// A server died or stayed silent.
    #[error("server '{node}' at {address} did not become ready: {reason}")]
    NotReady {
        /// Name of the node.
        node: String,
        /// Its address.
        address: String,
        /// Last words of the server.
        reason: String,
    },
    /// A server that someone else runs.
    #[error("external server '{node}' ({address}) cannot be used: {reason}")]
    External {
        /// Name of the node.
        node: String,
        /// Its host and port.
        address: String,
        /// Why, and the remedy.
        reason: String,
    },
    /// A file or a socket of the run's own.
    #[error("cannot {action} '{what}': {source}")]
    Io {
        /// Attempted action.
        action: &'static str,
        /// On what.
        what: String,
        /// Reason why not.
        source: io::Error,
    },
}

impl EnvironmentError {
    /// `true` if other servers, on other addresses, may be had at once.
    pub fn is_of_these_servers(&self) -> bool {
        match self {
            Self::NotReady { .. } => true,
            Self::Io { source, .. } => source.kind() == io::ErrorKind::AddrInUse,
            Self::NoServer
            | Self::NoOther { .. }
            | Self::BadOther { .. }
            | Self::NoZookeeper { .. }
            | Self::NoJava
            | Self::BadServer { .. }
            | Self::PortTaken { .. }
            | Self::NoPeerPort { .. }
            | Self::Network(_)
            | Self::External { .. } => false,
        }
    }

    /// For `map_err` on input and output.
    pub fn io(action: &'static str, what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io {
            action,
            what,
            source,
        }
    }
}
