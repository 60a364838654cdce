//! Work on many items by several threads.
//!
//! For: keys and properties, which are judged apart from each other. Results come in the order of
//! the items, so that an analysis does not depend on the number of threads. Not for: work that is
//! over sooner than a thread is started; the caller asks for one thread then.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Does `work` on each item, with the help of a state that each thread makes for itself.
pub(crate) fn map<T: Sync, R: Send, S>(
    threads: usize,
    items: &[T],
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &T) -> R + Sync,
) -> Vec<R> {
    if threads <= 1 || items.len() <= 1 {
        let mut state = state();
        return items.iter().map(|item| work(&mut state, item)).collect();
    }
    let next = AtomicUsize::new(0);
    let share = || {
        let mut state = state();
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else {
                return done;
            };
            done.push((at, work(&mut state, item)));
        }
    };
    let mut done = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.min(items.len()))
            .map(|_| scope.spawn(share))
            .collect();
        let mut done = Vec::with_capacity(items.len());
        for worker in workers {
            done.extend(worker.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        done
    });
    done.sort_unstable_by_key(|&(at, _)| at);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Two pieces of work, side by side where there are threads for it.
pub(crate) fn both<A, B: Send>(
    threads: usize,
    one: impl FnOnce() -> A,
    other: impl FnOnce() -> B + Send,
) -> (A, B) {
    if threads <= 1 {
        return (one(), other());
    }
    std::thread::scope(|scope| {
        let other = scope.spawn(other);
        let one = one();
        (
            one,
            other.join().unwrap_or_else(|panic| resume_unwind(panic)),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items_for_any_number_of_threads() {
        let items: Vec<u64> = (0..1000).collect();
        let squares: Vec<u64> = items.iter().map(|item| item * item).collect();
        for threads in [0, 1, 2, 7, 2000] {
            assert_eq!(map(threads, &items, || (), |(), item| item * item), squares);
        }
    }

    #[test]
    fn each_thread_keeps_its_state_from_item_to_item() {
        let count = |seen: &mut u32, _: &u32| {
            *seen += 1;
            *seen
        };
        assert_eq!(map(1, &[0, 0, 0], || 0, count), [1, 2, 3]);
    }

    #[test]
    #[should_panic(expected = "the third")]
    fn a_panic_of_the_work_is_a_panic_of_the_caller() {
        let broken = |(): &mut (), item: &u32| assert!(*item != 3, "the third");
        map(2, &[1, 2, 3, 4], || (), broken);
    }
}
