//! The keys that a run has named, so that it can remove them again, and only them.

use std::collections::BTreeSet;
use std::sync::Mutex;

/// Keys that are remembered at most. Those of locks come first; what comes later without end, such
/// as the latches of unlocks, expires by itself.
const KEYS_MAX: usize = 50_000;

/// Names of keys, as the server knows them.
#[derive(Debug, Default)]
pub struct Keys(Mutex<BTreeSet<Vec<u8>>>);

impl Keys {
    /// Remembers keys.
    pub fn add(&self, keys: Vec<Vec<u8>>) {
        let mut known = self.0.lock().expect("no holder of this lock panics");
        for key in keys {
            if known.len() < KEYS_MAX {
                known.insert(key);
            }
        }
    }

    /// All of them, to be remembered no more.
    pub fn take(&self) -> BTreeSet<Vec<u8>> {
        std::mem::take(&mut self.0.lock().expect("no holder of this lock panics"))
    }
}
