//! Removal of nodes at one member, by a session of its own.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::time::timeout;

use super::wire::{Reply, Request, Session, Wire};

/// Time for which members keep the session, should it not be ended.
const SESSION: Duration = Duration::from_secs(4);

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
    removed.unwrap_or_else(|_| Err(format!("no reply within {} ms", within.as_millis())))
}

async fn remove_each(address: SocketAddr, paths: &[String]) -> Result<u64, String> {
    let mut session = Session::new(SESSION);
    let Some(mut wire) = Wire::open(None, address, &mut session).await? else {
        return Err("it gives no session".to_owned());
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
