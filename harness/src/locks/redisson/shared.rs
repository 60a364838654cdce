//! State that the threads of one Redisson instance share: its name, and its subscriptions.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use crate::connection::Subscriptions;

/// One Redisson instance. Each client that takes part is a thread of it.
#[derive(Default)]
pub struct SharedInstance {
    id: OnceLock<u128>,
    threads: AtomicU32,
    subscriptions: Arc<Subscriptions>,
}

impl SharedInstance {
    /// Returns its name, which is the one that the first thread proposes.
    pub fn id(&self, proposed: u128) -> u128 {
        *self.id.get_or_init(|| proposed)
    }

    /// Returns the id of a thread that takes part from now on: 1, 2, ...
    pub fn next_thread(&self) -> u32 {
        self.threads.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Returns the subscriptions of its threads.
    pub fn subscriptions(&self) -> Arc<Subscriptions> {
        Arc::clone(&self.subscriptions)
    }
}
