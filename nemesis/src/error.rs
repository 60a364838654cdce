//! Reasons why a fault could not be injected, observed or healed.

use std::time::Duration;

use lockstorm_scenarios::NodeWord;

/// Failure of a fault: what was attempted, on what, and why it did not work.
#[derive(Debug, thiserror::Error)]
pub enum FaultError {
    /// The scenario names a node that the topology does not have.
    #[error("there is no node '{0}' in this topology")]
    UnknownNode(String),
    /// A word for nodes means none of them at this moment, as `primary` before an election is over.
    #[error("no node is '{0}' at this moment")]
    NobodyIs(String),
    /// The scenario names a client that does not exist (yet).
    #[error("there is no client '{0}'; a client comes into being with its first step")]
    UnknownClient(String),
    /// A storm was to hit one of the clients, and none of them runs.
    #[error("no client runs at this moment that could be 'one'")]
    NoClientRuns,
    /// The fault needs a network that can break links.
    #[error("this run has no switchable network, so that no link can be broken")]
    NoNetwork,
    /// The fault is about one message, and the network of the run reads none.
    #[error("the network of this run tells no message from the next: leave out `--network kernel`")]
    NoMessages,
    /// The fault needs packets, and the network of the run carries streams.
    #[error(
        "the fabric carries streams, and has no packets to {action}: run it with \
         `--network kernel`, in a network of real packets"
    )]
    NoPackets {
        /// Action that was attempted.
        action: &'static str,
    },
    /// The fault needs hands on the clock or the disk of a server.
    #[error("cannot {action} '{node}': its server was started without the shim")]
    NoShim {
        /// Action that was attempted.
        action: &'static str,
        /// On which node.
        node: String,
    },
    /// The fault is one of another system.
    #[error("cannot {action} '{node}': its server is {system}, which knows no such thing")]
    System {
        /// Action that was attempted.
        action: &'static str,
        /// On which node.
        node: String,
        /// System of its server.
        system: &'static str,
    },
    /// The node is not in the state that the fault needs.
    #[error("cannot {action} '{node}': {reason}")]
    Node {
        /// Action that was attempted.
        action: &'static str,
        /// On which node.
        node: String,
        /// Reason why not.
        reason: String,
    },
    /// The client is not in the state that the fault needs.
    #[error("cannot {action} client '{client}': {reason}")]
    Client {
        /// Action that was attempted.
        action: &'static str,
        /// On which client.
        client: String,
        /// Reason why not.
        reason: String,
    },
    /// The fault was injected and no probe saw an effect.
    #[error("{kind} of {target} had no observed effect{}: {last}", waited(*.within))]
    NoEffect {
        /// Kind of the fault.
        kind: &'static str,
        /// Target that it should have hit.
        target: String,
        /// Time for which the probe tried.
        within: Duration,
        /// State that the last probe saw.
        last: String,
    },
    /// A heal was asked for where nothing is broken.
    #[error("no active {kind} of {target} to heal")]
    NothingToHeal {
        /// Kind of the fault.
        kind: String,
        /// Target that it should have hit.
        target: String,
    },
}

impl FaultError {
    /// The error about a node that is not there, or a word that means none.
    pub fn no_node(name: &str) -> Self {
        if NodeWord::read(name).is_some() {
            Self::NobodyIs(name.to_owned())
        } else {
            Self::UnknownNode(name.to_owned())
        }
    }

    /// The error about a client that is not there, or that none runs of which one could be hit.
    pub fn no_client(name: &str) -> Self {
        if name == "one" {
            Self::NoClientRuns
        } else {
            Self::UnknownClient(name.to_owned())
        }
    }
}

/// Time for which an effect was looked for, where anybody looked twice.
fn waited(within: Duration) -> String {
    match within.as_millis() {
        0 => String::new(),
        millis => format!(" within {millis} ms"),
    }
}
