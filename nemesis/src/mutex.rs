//! Locking of mutexes that a panic elsewhere does not make wrong.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex of this crate. What they guard is whole after every statement that changes it, so
/// a panic while one was locked does not make it wrong.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
