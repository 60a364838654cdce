//! Values that are in force at the same time, each until its guard is dropped.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use crate::mutex::lock;
use crate::network::LinkGuard;

/// The values in force, in the order in which they came.
pub(super) struct Stack<T>(Arc<Mutex<Entries<T>>>);

struct Entries<T> {
    next: u64,
    in_force: BTreeMap<u64, T>,
}

impl<T: Copy + Send + 'static> Stack<T> {
    /// Puts a value in force until the guard is dropped.
    pub(super) fn lay(&self, value: T) -> LinkGuard {
        let mut entries = lock(&self.0);
        let number = entries.next;
        entries.next += 1;
        entries.in_force.insert(number, value);
        drop(entries);
        let entries = Arc::clone(&self.0);
        LinkGuard::new(move || {
            lock(&entries).in_force.remove(&number);
        })
    }

    /// Folds all values in force into one.
    pub(super) fn fold<A>(&self, start: A, with: impl FnMut(A, T) -> A) -> A {
        lock(&self.0).in_force.values().copied().fold(start, with)
    }
}

impl<T> Default for Stack<T> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Entries {
            next: 0,
            in_force: BTreeMap::new(),
        })))
    }
}
