//! Removal of nodes at one member, by a session of its own.
//!
//! Nodes below `/zookeeper` are the servers' own, and stay.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::time::timeout;

use super::answers::children_of;
use super::wire::{Reply, Request, Session, Wire};

/// Time for which members keep the session, should it not be ended.
const SESSION: Duration = Duration::from_secs(4);
/// Reason why nothing can be asked.
const NO_SESSION: &str = "it gives no session";
/// The servers' own nodes.
const OWN: &str = "/zookeeper";

/// Has the member at `address` delete the nodes of these paths; how many were there. A session that
/// begins and ends is a change that a majority has to take, even where there is nothing to delete.
///
/// # Errors
/// In words, why not all of them are gone.
pub async fn remove(
    address: SocketAddr,
    paths: &[String],
    within: Duration,
) -> Result<u64, String> {
    let removed = timeout(within, remove_each(address, paths)).await;
    removed.unwrap_or_else(|_| Err(no_reply(within)))
}

/// Has the member at `address` delete all nodes of clients.
///
/// # Errors
/// In words, why not all of them are gone.
pub async fn remove_all(address: SocketAddr, within: Duration) -> Result<(), String> {
    let all = async { remove_each(address, &find_all(address).await?).await };
    let removed = timeout(within, all).await;
    removed
        .unwrap_or_else(|_| Err(no_reply(within)))
        .map(|_| ())
}

fn no_reply(within: Duration) -> String {
    format!("no reply within {} ms", within.as_millis())
}

/// The paths of all nodes of clients, children before their parents.
async fn find_all(address: SocketAddr) -> Result<Vec<String>, String> {
    let mut session = Session::new(SESSION);
    let Some(mut wire) = Wire::open(None, address, &mut session).await? else {
        return Err(NO_SESSION.to_owned());
    };
    let mut found = vec![String::new()];
    let mut at = 0;
    while let Some(parent) = found.get(at).cloned() {
        let path = if parent.is_empty() { "/" } else { &parent };
        let children = match wire.ask(&mut session, Request::Children(path)).await? {
            Reply::Done(answer) => children_of(&answer).unwrap_or_default(),
            _ => Vec::new(),
        };
        let paths = children.iter().map(|child| format!("{parent}/{child}"));
        found.extend(paths.filter(|path| path != OWN));
        at += 1;
    }
    wire.ask(&mut session, Request::Close).await?;
    found.reverse();
    found.pop();
    Ok(found)
}

async fn remove_each(address: SocketAddr, paths: &[String]) -> Result<u64, String> {
    let mut session = Session::new(SESSION);
    let Some(mut wire) = Wire::open(None, address, &mut session).await? else {
        return Err(NO_SESSION.to_owned());
    };
    let mut removed = 0;
    for path in paths {
        match wire.ask(&mut session, Request::Delete(path)).await? {
            Reply::Done(_) => removed += 1,
            Reply::NoNode => {}
            other => return Err(format!("the removal of {path} was answered {other:?}")),
        }
    }
    wire.ask(&mut session, Request::Close).await?;
    Ok(removed)
}
