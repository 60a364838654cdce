//! Does many things at once: runs mostly wait, for leases to end and servers to start.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// How many runs at once: two cores carry them without delay that matters to a lease.
const WORKERS: usize = 4;

/// One crew at a time, for tests run side by side.
static AT_WORK: Mutex<()> = Mutex::new(());

/// Does `work` on each item, and returns the results in order.
pub fn all<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let _alone = AT_WORK.lock().unwrap_or_else(PoisonError::into_inner);
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some((at, item)) = take(items, &next) {
                    let result = work(item);
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
