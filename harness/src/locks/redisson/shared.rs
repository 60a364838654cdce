//! What the threads of one Redisson instance share: its name, and what it hears.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use lockstorm_scenarios::Lock;

use crate::connection::Subscriptions;

/// One Redisson instance; clones are the same one. Each client that takes part is a thread of it.
#[derive(Clone, Default)]
pub struct SharedInstance(Arc<Parts>);

#[derive(Default)]
struct Parts {
    id: OnceLock<u128>,
    threads: AtomicU32,
    subscriptions: Arc<Subscriptions>,
}

/// The Redisson instances of a run, each with as many clients as the lock says.
pub struct Instances {
    threads: usize,
    known: Mutex<BTreeMap<usize, SharedInstance>>,
}

impl SharedInstance {
    /// Its name, which is the one that the first thread proposes.
    pub(super) fn id(&self, proposed: u128) -> u128 {
        *self.0.id.get_or_init(|| proposed)
    }

    /// The id of a thread that takes part from now on: 1, 2, ...
    pub(super) fn next_thread(&self) -> u32 {
        self.0.threads.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// What its threads hear.
    pub(super) fn subscriptions(&self) -> Arc<Subscriptions> {
        self.0.subscriptions.clone()
    }
}

impl Instances {
    /// None yet.
    pub fn new(lock: &Lock) -> Self {
        Self {
            threads: lock.threads().max(1) as usize,
            known: Mutex::default(),
        }
    }

    /// The instance of client number `n`: the first clients share one, the next ones another.
    pub fn of(&self, n: usize) -> SharedInstance {
        let mut known = self.known.lock().expect("no holder of this lock panics");
        known.entry(n / self.threads).or_default().clone()
    }
}
