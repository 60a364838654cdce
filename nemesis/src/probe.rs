//! Questions to a node that more than one fault asks.

use std::future::Future;
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use crate::deployment::Deployment;
use crate::error::FaultError;
use crate::process::Processes;
use crate::server::redis::Redis;

/// Time that an effect, or the end of one, may take to show. A server starts or answers within
/// milliseconds; the rest is patience with a loaded machine.
pub(crate) const SHOWS_WITHIN: Duration = Duration::from_secs(5);

/// Time that a server has for its last word before it is killed; a paused one has none.
const LAST_WORD_WITHIN: Duration = Duration::from_millis(100);

/// How often a condition is looked at.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(10);

/// The end of a fault that is over with its effect.
pub(crate) const NOTHING_TO_UNDO: &str = "nothing is left to undo";

/// Looks until the condition holds (`true`) or [`SHOWS_WITHIN`] is over (`false`).
pub(crate) async fn comes_true<F: Future<Output = bool>>(mut condition: impl FnMut() -> F) -> bool {
    let until = Instant::now() + SHOWS_WITHIN;
    loop {
        if condition().await {
            return true;
        }
        if Instant::now() >= until {
            return false;
        }
        sleep(LOOK_EVERY).await;
    }
}

/// Tells whether a node's server answers.
pub(crate) async fn answers(on: &dyn Deployment, node: &str) -> bool {
    match on.server(node) {
        Ok(server) => server.greet().await.is_ok(),
        Err(_) => false,
    }
}

/// Number of entries that a server has; `None` of one that cannot tell: dead, paused, or one that
/// keeps none.
pub(crate) async fn entries(on: &dyn Deployment, node: &str) -> Option<u64> {
    let server = on.server(node).ok()?;
    timeout(LAST_WORD_WITHIN, server.entries()).await.ok()?.ok()
}

/// A node's server as one of Redis.
pub(crate) fn redis<'d>(
    on: &'d dyn Deployment,
    node: &str,
    action: &'static str,
) -> Result<&'d dyn Redis, FaultError> {
    let server = on.server(node)?;
    server.redis().ok_or_else(|| FaultError::System {
        action,
        node: node.to_owned(),
        system: server.system().name(),
    })
}

/// The processes of a node's live server.
pub(crate) fn live_processes(
    on: &dyn Deployment,
    node: &str,
    action: &'static str,
) -> Result<Processes, FaultError> {
    known_node(on, node)?;
    on.processes(node).ok_or_else(|| FaultError::Node {
        action,
        node: node.to_owned(),
        reason: "it is dead".to_owned(),
    })
}

/// Refuses a node that is not there to answer.
pub(crate) fn live(
    on: &dyn Deployment,
    node: &str,
    action: &'static str,
) -> Result<(), FaultError> {
    known_node(on, node)?;
    if on.lives(node) {
        return Ok(());
    }
    Err(FaultError::Node {
        action,
        node: node.to_owned(),
        reason: "it is dead".to_owned(),
    })
}

/// Refuses a node that the topology does not have.
pub(crate) fn known_node(on: &dyn Deployment, node: &str) -> Result<(), FaultError> {
    if on.nodes().iter().any(|known| known == node) {
        Ok(())
    } else {
        Err(FaultError::no_node(node))
    }
}
