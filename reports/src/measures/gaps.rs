//! Hand-offs: how long a lock lay free between the end of one hold and the next grant.
//!
//! A hold ends here where the service's promise ends: at its release, or with its lease. A
//! negative gap is therefore two holders at once that may not be, which is what the checker calls
//! a violation of mutual exclusion. Readers among themselves and an owner that is granted once
//! more what it has are no hand-off; nor is there one for a lock with several permits.

use std::collections::HashMap;

use lockstorm_checker::Nanos;

use crate::trace::{Hold, Trace};

/// One hand-off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gap<'a> {
    /// The hold that began.
    pub(crate) hold: &'a Hold,
    /// In nanoseconds; negative where it began before another had ended.
    pub(crate) length: i64,
}

/// The hand-offs of a run, in order of the grants.
pub(crate) fn gaps(trace: &Trace) -> Vec<Gap<'_>> {
    if trace.permits > 1 {
        return Vec::new();
    }
    let mut locks: HashMap<&str, Lock> = HashMap::new();
    let mut gaps = Vec::new();
    for hold in &trace.holds {
        let lock = locks.entry(&*hold.key).or_default();
        if let Some(free_from) = lock.free_from(hold) {
            // A promise that never ends leaves no gap to measure, only an overlap to the last.
            let free_from = free_from.min(trace.end);
            let length = hold.granted.0.cast_signed() - free_from.0.cast_signed();
            gaps.push(Gap { hold, length });
        }
        lock.take(hold);
    }
    gaps
}

/// State of one lock so far.
#[derive(Default)]
struct Lock<'a> {
    writers: Latest<'a>,
    readers: Latest<'a>,
}

impl<'a> Lock<'a> {
    fn take(&mut self, hold: &'a Hold) {
        if hold.is_reader {
            self.readers.take(hold);
        } else {
            self.writers.take(hold);
        }
    }

    /// From when on the lock was to be had for `hold`, which is granted after all that was taken.
    /// `None` where it was in use and might be shared, and where there was no hold before.
    fn free_from(&self, hold: &Hold) -> Option<Nanos> {
        let of_writers = self.writers.without(&hold.client);
        let of_readers = self.readers.without(&hold.client);
        let forbidden = if hold.is_reader {
            of_writers
        } else {
            of_writers.max(of_readers)
        };
        if forbidden.is_some_and(|end| end > hold.granted) {
            return forbidden;
        }
        let last = self.writers.end().max(self.readers.end());
        last.filter(|end| *end <= hold.granted)
    }
}

/// The hold that ends last, and the one that does among those of all other owners.
#[derive(Default)]
struct Latest<'a> {
    first: Option<(Nanos, &'a str)>,
    second: Option<(Nanos, &'a str)>,
}

impl<'a> Latest<'a> {
    fn take(&mut self, hold: &'a Hold) {
        let new = (hold.promised_to, &*hold.client);
        match self.first {
            Some(first) if first.1 == new.1 => self.first = Some(first.max(new)),
            Some(first) if first.0 >= new.0 => match self.second {
                Some(second) if second.0 >= new.0 => {}
                Some(_) | None => self.second = Some(new),
            },
            first => {
                self.second = first;
                self.first = Some(new);
            }
        }
    }

    /// The last end.
    fn end(&self) -> Option<Nanos> {
        self.first.map(|(end, _)| end)
    }

    /// The last end of those that are not `owner`'s.
    fn without(&self, owner: &str) -> Option<Nanos> {
        let others = [self.first, self.second].into_iter().flatten();
        others
            .filter(|(_, of)| *of != owner)
            .map(|(end, _)| end)
            .max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hold(
        client: &str,
        granted_ms: u64,
        released_ms: Option<u64>,
        lease_ms: Option<u64>,
    ) -> Hold {
        let released = released_ms.map(Nanos::from_millis);
        let lease = lease_ms.map(Nanos::from_millis);
        let never = Nanos::MAX;
        Hold {
            client: client.into(),
            key: "k".into(),
            index: granted_ms,
            invoked: Nanos::from_millis(granted_ms),
            granted: Nanos::from_millis(granted_ms),
            release_invoked: released,
            left: released,
            release_answered: released,
            lease_floor: lease,
            lease_ceiling: lease,
            promised_to: released.unwrap_or(never).min(lease.unwrap_or(never)),
            believed_to: released.unwrap_or(never),
            is_reader: false,
            token: None,
        }
    }

    fn reader(client: &str, granted_ms: u64, released_ms: u64) -> Hold {
        Hold {
            is_reader: true,
            ..hold(client, granted_ms, Some(released_ms), None)
        }
    }

    fn trace_of(holds: Vec<Hold>) -> Trace {
        Trace {
            end: Nanos::from_millis(10_000),
            holds,
            ..Trace::default()
        }
    }

    fn gaps_of(holds: Vec<Hold>) -> Vec<i64> {
        let trace = trace_of(holds);
        gaps(&trace)
            .iter()
            .map(|gap| gap.length / 1_000_000)
            .collect()
    }

    #[test]
    fn a_gap_runs_from_the_release_to_the_next_grant() {
        let first = hold("a", 0, Some(100), Some(500));
        assert_eq!(
            gaps_of(vec![first.clone(), hold("b", 130, Some(200), None)]),
            [30]
        );
        assert_eq!(gaps_of(vec![first, hold("a", 130, Some(200), None)]), [30]);
    }

    #[test]
    fn a_hold_that_is_never_released_ends_with_its_lease() {
        let first = hold("a", 0, None, Some(500));
        assert_eq!(gaps_of(vec![first, hold("b", 501, Some(600), None)]), [1]);
    }

    #[test]
    fn two_holders_at_once_are_a_negative_gap_even_behind_a_short_hold() {
        // The first hold outlasts the second: the third grant overlaps the first, not the second.
        let holds = vec![
            hold("a", 0, Some(900), None),
            hold("b", 100, Some(200), None),
            hold("c", 300, Some(400), None),
        ];
        assert_eq!(gaps_of(holds), [-800, -600]);
    }

    #[test]
    fn who_is_granted_once_more_what_it_has_overlaps_nobody() {
        let holds = vec![
            hold("a", 0, Some(900), None),
            hold("a", 100, Some(800), None),
            hold("b", 950, Some(960), None),
        ];
        assert_eq!(gaps_of(holds), [50]);
    }

    #[test]
    fn readers_share_and_a_writer_among_them_does_not() {
        let holds = vec![
            reader("a", 0, 500),
            reader("b", 100, 400),
            hold("c", 450, Some(460), None),
            reader("d", 520, 600),
        ];
        assert_eq!(gaps_of(holds), [-50, 20]);
    }

    #[test]
    fn a_lock_with_several_permits_has_no_hand_off() {
        let holds = vec![
            hold("a", 0, Some(900), None),
            hold("b", 100, Some(200), None),
        ];
        let trace = Trace {
            permits: 2,
            ..trace_of(holds)
        };
        assert!(gaps(&trace).is_empty());
    }

    #[test]
    fn the_two_latest_of_different_owners_are_kept_whatever_comes() {
        let mut latest = Latest::default();
        let holds = [("a", 5), ("b", 9), ("a", 7), ("c", 6), ("b", 10), ("d", 8)]
            .map(|(client, end)| hold(client, 0, Some(end), None));
        for hold in &holds {
            latest.take(hold);
        }
        let ms = |at| Some(Nanos::from_millis(at));
        assert_eq!((latest.end(), latest.without("b")), (ms(10), ms(8)));
        assert_eq!(latest.without("d"), ms(10));
    }
}
