//! Members that elect a leader by themselves, as those of etcd and of ZooKeeper.

use std::time::Duration;

use futures_util::future::{join_all, try_join_all};
use tokio::time::{Instant, sleep};

use super::node::Node;
use crate::environment_error::EnvironmentError;

/// Time that members may take to agree again once all faults are healed.
const RECOVERS_WITHIN: Duration = Duration::from_secs(30);
/// Pause between two questions whether they do.
const POLL: Duration = Duration::from_millis(20);

/// Starts all at once, for none of them can serve before most of them are there; they agree within
/// `within`.
pub async fn start_together(nodes: &[Node], within: Duration) -> Result<(), EnvironmentError> {
    try_join_all(nodes.iter().map(Node::start_empty)).await?;
    let agreed = agree(nodes, within).await;
    agreed.map_err(|(node, reason)| node.not_ready(&reason))
}

/// Waits until those that run agree again.
pub async fn recover(nodes: &[Node]) -> Result<(), String> {
    let agreed = agree(nodes, RECOVERS_WITHIN).await;
    agreed.map_err(|(node, reason)| format!("{}: {reason}", node.name))
}

/// Waits until no member keeps an entry.
pub async fn wait_until_empty(nodes: &[Node]) -> Result<(), EnvironmentError> {
    let until = Instant::now() + RECOVERS_WITHIN;
    for node in nodes {
        loop {
            let entries = node.server().entries().await;
            if matches!(entries, Ok(0)) {
                break;
            }
            if Instant::now() >= until {
                return Err(node.not_ready(&format!("it keeps {entries:?} entries")));
            }
            sleep(POLL).await;
        }
    }
    Ok(())
}

/// The leader of the last election: one that was cut off says for a while that it still leads.
pub async fn leader(nodes: &[Node]) -> Vec<String> {
    let ranks = join_all(nodes.iter().map(|node| node.server().rank())).await;
    let ranks = nodes.iter().zip(ranks);
    let leaders = ranks.filter_map(|(node, rank)| {
        let rank = rank.ok().filter(|rank| rank.leads)?;
        Some((rank.term, node.name.clone()))
    });
    let latest = leaders.max().map(|(_, leader)| leader);
    latest.into_iter().collect()
}

/// Waits until each member that runs knows a leader and a majority; else the member that does not,
/// and why.
async fn agree(nodes: &[Node], within: Duration) -> Result<(), (&Node, String)> {
    let until = Instant::now() + within;
    for node in nodes.iter().filter(|node| node.pid().is_some()) {
        while let Err(reason) = node.agrees().await {
            if Instant::now() >= until {
                return Err((node, reason));
            }
            sleep(POLL).await;
        }
    }
    Ok(())
}
