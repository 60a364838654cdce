//! Does many things at once: runs mostly wait, for leases to end and servers to start.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// How many runs at once, for all tests together: two cores carry them without delay that matters
/// to a lease.
const WORKERS: usize = 4;

/// Workers who are free.
static FREE: Mutex<usize> = Mutex::new(WORKERS);
/// Told when one becomes free.
static FREED: Condvar = Condvar::new();

/// Does `work` on each item, and returns the results in order.
pub fn all<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some((at, item)) = take(items, &next) {
                    let turn = Turn::take();
                    let result = work(item);
                    drop(turn);
                    done.lock()
                        .expect("no worker panics with it")
                        .push((at, result));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("no worker panics with it");
    done.sort_by_key(|&(at, _)| at);
    done.into_iter().map(|(_, result)| result).collect()
}

fn take<'a, T>(items: &'a [T], next: &AtomicUsize) -> Option<(usize, &'a T)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    items.get(at).map(|item| (at, item))
}

/// The right to run something, given back when dropped.
struct Turn;

impl Turn {
    fn take() -> Self {
        let free = FREED.wait_while(Self::free(), |free| *free == 0);
        *free.unwrap_or_else(PoisonError::into_inner) -= 1;
        Self
    }

    fn free() -> MutexGuard<'static, usize> {
        FREE.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *Self::free() += 1;
        FREED.notify_one();
    }
}
