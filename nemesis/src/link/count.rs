//! A number that only grows.

use std::sync::atomic::{AtomicU64, Ordering};

/// How much of something there was so far.
#[derive(Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    /// There was so much more; gives how much there was before.
    pub(crate) fn add(&self, more: u64) -> u64 {
        self.0.fetch_add(more, Ordering::Relaxed)
    }

    /// So much so far.
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
