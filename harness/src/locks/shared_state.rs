//! State that several clients share, as threads of one process share its connections and its name.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use lockstorm_scenarios::Lock;

/// State of one group of clients, one value of each type; clones are the same state.
#[derive(Clone, Default)]
pub struct SharedState(Arc<Mutex<BTreeMap<TypeId, Arc<dyn Any + Send + Sync>>>>);

impl SharedState {
    /// Returns the value of type `T` that the group shares; the first who asks makes it.
    pub(super) fn get<T: Any + Default + Send + Sync>(&self) -> Arc<T> {
        let mut values = self.0.lock().expect("no holder of this lock panics");
        let value = values.entry(TypeId::of::<T>());
        let value = value.or_insert_with(|| Arc::<T>::default());
        let value = Arc::clone(value).downcast();
        value.expect("each type has its own entry")
    }
}

/// The groups of clients of a run, each with as many clients as the lock says.
pub struct ClientGroups {
    size: usize,
    known: Mutex<BTreeMap<usize, SharedState>>,
}

impl ClientGroups {
    /// Creates groups without any state.
    pub fn new(lock: &Lock) -> Self {
        Self {
            size: lock.threads().max(1) as usize,
            known: Mutex::default(),
        }
    }

    /// Returns the state of client number `n`: the first clients share one, the next ones another.
    pub fn of(&self, n: usize) -> SharedState {
        let mut known = self.known.lock().expect("no holder of this lock panics");
        known.entry(n / self.size).or_default().clone()
    }
}
