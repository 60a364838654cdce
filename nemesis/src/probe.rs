//! Questions to a node that more than one fault asks.

use std::future::Future;
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use crate::deployment::Deployment;
use crate::error::FaultError;

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

/// Tells whether a node answers a PING.
pub(crate) async fn answers(on: &dyn Deployment, node: &str) -> bool {
    on.command(node, &["PING"]).await.is_ok()
}

/// One field of a section of a node's INFO.
pub(crate) async fn info(
    on: &dyn Deployment,
    node: &str,
    section: &str,
    field: &str,
) -> Result<String, FaultError> {
    let text = on.command(node, &["INFO", section]).await?;
    text.lines()
        .filter_map(|line| line.trim_end().split_once(':'))
        .find(|(name, _)| *name == field)
        .map(|(_, value)| value.to_owned())
        .ok_or_else(|| FaultError::Node {
            action: "read INFO of",
            node: node.to_owned(),
            reason: format!("section {section} has no field {field}"),
        })
}

/// Reads a field of INFO as a number.
pub(crate) async fn info_count(
    on: &dyn Deployment,
    node: &str,
    section: &str,
    field: &str,
) -> Result<u64, FaultError> {
    number(node, &info(on, node, section, field).await?)
}

/// Tells whether a server takes itself for a replica.
pub(crate) async fn is_replica(on: &dyn Deployment, node: &str) -> Result<bool, FaultError> {
    Ok(info(on, node, "replication", "role").await? == "slave")
}

/// Number of keys that a server has; `None` of one that cannot tell: dead, paused, or a sentinel.
pub(crate) async fn keys(on: &dyn Deployment, node: &str) -> Option<u64> {
    let asked = timeout(LAST_WORD_WITHIN, on.command(node, &["DBSIZE"])).await;
    asked.ok()?.ok()?.parse().ok()
}

/// Tells whether a server has no key, or only keys that were written since it started: under load
/// clients set new keys at once.
pub(crate) async fn has_no_old_key(on: &dyn Deployment, node: &str) -> Result<bool, FaultError> {
    let keys = count(on, node, &["DBSIZE"]).await?;
    let written = info_count(on, node, "persistence", "rdb_changes_since_last_save").await?;
    // Redis counts the reading of an append-only file as writing: there only an empty server
    // proves the loss.
    let reads_no_file = info(on, node, "persistence", "aof_enabled").await? == "0";
    Ok(keys == 0 || keys <= written && reads_no_file)
}

/// Tells whether a server loses everything when it ends: it keeps no file, has no primary that
/// fills it again, and is no sentinel. One that does not say may keep something.
pub(crate) async fn keeps_nothing(on: &dyn Deployment, node: &str) -> bool {
    let is_sentinel = on.sentinels().iter().any(|sentinel| sentinel == node);
    let saves = on.command(node, &["CONFIG", "GET", "save"]).await;
    let appends = info(on, node, "persistence", "aof_enabled").await;
    let is_primary = matches!(is_replica(on, node).await, Ok(false));
    let has_no_file = saves.is_ok_and(|reply| reply.trim_end() == "save")
        && appends.is_ok_and(|enabled| enabled == "0");
    !is_sentinel && is_primary && has_no_file
}

/// A command that is answered with a number.
pub(crate) async fn count(
    on: &dyn Deployment,
    node: &str,
    args: &[&str],
) -> Result<u64, FaultError> {
    number(node, &on.command(node, args).await?)
}

fn number(node: &str, text: &str) -> Result<u64, FaultError> {
    text.parse().map_err(|_| FaultError::Node {
        action: "read a number of",
        node: node.to_owned(),
        reason: format!("it answered '{text}'"),
    })
}

/// The process id of a node's live server.
pub(crate) fn live_pid(
    on: &dyn Deployment,
    node: &str,
    action: &'static str,
) -> Result<i32, FaultError> {
    known_node(on, node)?;
    on.pid(node).ok_or_else(|| FaultError::Node {
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
        Err(FaultError::UnknownNode(node.to_owned()))
    }
}
