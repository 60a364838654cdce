//! Introduction of a program: its name, its promises and the servers on which it can be.

use std::path::Path;
use std::time::Duration;

use lockstorm_scenarios::{Topology, TopologyKind};
use serde_json::json;

use super::test_bed::{Peer, TestBed, target};
use crate::adapter::{Answer, Call, Opened};
use crate::run::RunError;
use crate::server::{Program, ServerSettings, Wiring};

/// Lease of the client that is opened to ask.
const LEASE: Duration = Duration::from_secs(10);

/// A program that has said who it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Introduction {
    /// Name and version that it gives itself.
    pub name: String,
    /// Words about itself and its library.
    pub opened: Opened,
    /// True if its locks have no lease.
    pub is_endless: bool,
    /// True if it has said that it cannot extend a lease when it is told to.
    pub cannot_renew: bool,
    /// Servers on which it cannot be opened, each with the reason in its own words.
    pub refused: Vec<(TopologyKind, String)>,
}

/// Reason why a program could not introduce itself.
#[derive(Debug, thiserror::Error)]
pub enum IntroductionError {
    /// There are no servers for it.
    #[error(transparent)]
    Servers(#[from] RunError),
    /// It can be opened on none of the servers.
    #[error("the adapter can be opened on no servers that --topology names; on {on}: {why}")]
    Nowhere {
        /// Kind of the first servers that were tried.
        on: &'static str,
        /// Its own words, or what is wrong with it.
        why: String,
    },
}

/// Starts the program on each of these servers, and asks who it is and what it promises.
///
/// # Errors
/// When servers cannot be had, or the program can be opened on none of them.
pub async fn introduce(
    command: &[String],
    topologies: &[Topology],
    (program, port): (&Program, u16),
    folder: &Path,
) -> Result<Introduction, IntroductionError> {
    let mut found = Introduction::default();
    for topology in topologies {
        let kind = topology.kind();
        let folder = folder.join(kind.name());
        let settings = ServerSettings {
            topology: topology.clone(),
            program: program.clone(),
            port,
            folder: folder.join("nodes"),
            wiring: Wiring::Direct,
            shim: false,
            spares: None,
        };
        let mut bed = TestBed::new(command.to_vec(), folder, settings).await?;
        match bed.client(LEASE).await {
            Ok(peer) => {
                found.name.clone_from(&peer.name);
                found.opened.clone_from(&peer.opened);
                found.is_endless = bed.is_endless();
                found.cannot_renew |= cannot_renew(&bed.key(), &peer).await;
            }
            Err(why) => found.refused.push((kind, why)),
        }
    }
    match found.refused.first() {
        Some((on, why)) if found.name.is_empty() => Err(IntroductionError::Nowhere {
            on: on.name(),
            why: why.clone(),
        }),
        Some(_) | None => Ok(found),
    }
}

/// Tells whether the program says of a lock that it holds that it cannot extend its lease.
async fn cannot_renew(key: &str, peer: &Peer) -> bool {
    if !matches!(peer.acquire(key).await, Ok(Answer::Granted { .. })) {
        return false;
    }
    let renewed = peer.ask(Call::Renew(target(key))).await;
    // What comes of the release is for others to find out.
    let _ = peer.release(key).await;
    matches!(renewed, Ok(Answer::Unsupported { .. }))
}

/// Returns the servers of a kind, with its usual options.
pub fn usual_servers(kind: TopologyKind) -> Topology {
    let usual = serde_json::from_value(json!({ kind.name(): {} }));
    usual.expect("every kind of servers that can be started has usual options")
}
