//! Servers that are used again: from one trial of a hunt to the next they are kept, and cleaned.
//!
//! For: runs in which nothing happens to a server, one after another on servers of one kind. Not
//! for: a run whose record somebody is to trust by itself, which has servers of its own.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::deployment::Servers;
use super::fleet::Fleet;
use super::wires::Wiring;

/// Servers of one topology and program that wait for their next run.
pub struct Spares {
    /// Folder of their files.
    folder: PathBuf,
    /// Fleets that were started so far.
    fleets: AtomicU64,
    /// Those that nobody uses, each behind a new network of its own, so that the servers go on to
    /// hear each other.
    idle: Mutex<Vec<Servers>>,
}

impl Spares {
    /// None yet; their files will be in this folder.
    pub fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            fleets: AtomicU64::new(0),
            idle: Mutex::default(),
        }
    }

    /// Folder of a fleet that is about to be started.
    pub(super) fn next_folder(&self) -> PathBuf {
        let n = self.fleets.fetch_add(1, Ordering::Relaxed);
        self.folder.join(n.to_string())
    }

    /// Servers that are proved clean, if any can be had: those that are not are ended.
    pub(super) async fn take(&self) -> Option<Servers> {
        loop {
            let servers = self.idle.lock().expect("no holder panics").pop()?;
            if servers.fleet().clean().await.is_ok() {
                return Some(servers);
            }
        }
    }

    /// Keeps servers to which nothing has happened, once the network of their last run is gone;
    /// those of a kind that cannot be cleaned are ended.
    pub async fn keep(&self, fleet: Arc<Fleet>, wiring: Wiring) {
        if !fleet.shape.can_be_cleaned() || !fleet.casualties().is_empty() {
            return;
        }
        if let Ok(servers) = Servers::around(fleet, wiring).await {
            self.idle.lock().expect("no holder panics").push(servers);
        }
    }
}

impl Drop for Spares {
    fn drop(&mut self) {
        self.idle.get_mut().expect("no holder panics").clear();
        // A leftover folder is only untidy.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
