//! Counts how many permits are out at once, in O(n log n).
//!
//! For: semaphores, where many may hold together and only their sum has a limit. Not for: one
//! permit, of which the core sweep tells more.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use crate::history::Nanos;
use crate::operations::Interval;

/// An interval during which permits are out. An empty one takes no part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loan {
    pub(crate) interval: Interval,
    pub(crate) permits: u32,
    /// Number by which the caller knows it.
    pub(crate) tag: u32,
}

/// Every grant that went beyond the limit.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Excess {
    /// Number of such grants.
    pub(crate) count: u64,
    /// The tags of those who together held too much at the first of them; none can be left out.
    pub(crate) first: Vec<Vec<u32>>,
}

/// Looks for more than `permits` out at once; lists grants that led there until they name `limit`
/// holders, so that a lock with many permits does not take a list of its holders for each grant.
pub(crate) fn excess(loans: &mut Vec<Loan>, permits: u32, limit: usize) -> Excess {
    loans.retain(|loan| !loan.interval.is_empty());
    loans.sort_by_key(|loan| loan.interval.start);
    let mut ends: BinaryHeap<Reverse<(Nanos, usize)>> = BinaryHeap::new();
    // Positions of those who hold, after their permits.
    let mut out: BTreeSet<(u32, usize)> = BTreeSet::new();
    let mut depth = 0_u64;
    let mut named = 0;
    let mut excess = Excess::default();
    for (position, loan) in loans.iter().enumerate() {
        while let Some(&Reverse((end, gone))) = ends.peek()
            && end <= loan.interval.start
        {
            ends.pop();
            out.remove(&(loans[gone].permits, gone));
            depth -= u64::from(loans[gone].permits);
        }
        ends.push(Reverse((loan.interval.end, position)));
        out.insert((loan.permits, position));
        depth += u64::from(loan.permits);
        if depth <= u64::from(permits) {
            continue;
        }
        excess.count += 1;
        if named < limit {
            let set = too_many(&out, permits);
            named += set.len();
            let tags = set.into_iter().map(|position| loans[position].tag);
            excess.first.push(tags.collect());
        }
    }
    excess
}

/// A minimal set of holders that together exceed `permits`, by start. It takes no longer than the
/// set is large, however many others hold.
fn too_many(out: &BTreeSet<(u32, usize)>, permits: u32) -> Vec<usize> {
    let mut sum = 0;
    // The largest first, until they are too many: none of them can then be spared, for without it
    // and the smaller ones they were not.
    let mut set: Vec<usize> = out
        .iter()
        .rev()
        .take_while(|(taken, _)| {
            let enough = sum > u64::from(permits);
            sum += u64::from(*taken);
            !enough
        })
        .map(|&(_, position)| position)
        .collect();
    set.sort_unstable();
    set
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    fn loan(start: u64, end: u64, permits: u32, tag: u32) -> Loan {
        Loan {
            interval: Interval::new(Nanos(start), Nanos(end)),
            permits,
            tag,
        }
    }

    #[test]
    fn random_loans_are_counted_as_one_millisecond_after_the_other_tells() {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let mut violated = 0;
        for _ in 0..3000 {
            let mut loans: Vec<Loan> = (0..rng.random_range(1..8))
                .map(|tag| {
                    let start = rng.random_range(0..12);
                    loan(
                        start,
                        start + rng.random_range(0..6),
                        rng.random_range(1..4),
                        tag,
                    )
                })
                .collect();
            let held = |cell: u64, loans: &[Loan]| -> u32 {
                let inside =
                    |loan: &&Loan| loan.interval.start.0 <= cell && cell < loan.interval.end.0;
                loans.iter().filter(inside).map(|loan| loan.permits).sum()
            };
            let expected = (0..20).any(|cell| held(cell, &loans) > 4);
            let found = excess(&mut loans, 4, 99);
            assert_eq!(found.count > 0, expected, "{loans:?}");
            violated += u32::from(expected);
            for set in found.first {
                let named = |without: Option<u32>| -> Vec<Loan> {
                    let stays = |tag: u32| set.contains(&tag) && Some(tag) != without;
                    loans
                        .iter()
                        .copied()
                        .filter(|loan| stays(loan.tag))
                        .collect()
                };
                let crowd = |loans: Vec<Loan>| (0..20).any(|cell| held(cell, &loans) > 4);
                assert!(crowd(named(None)), "{set:?} of {loans:?}");
                assert!(
                    set.iter().all(|&tag| !crowd(named(Some(tag)))),
                    "{set:?} of {loans:?}"
                );
            }
        }
        assert!((300..2700).contains(&violated), "{violated}");
    }

    #[test]
    fn a_crowd_of_holders_is_counted_for_every_grant_and_named_for_the_first_only() {
        let mut loans: Vec<Loan> = (0..900)
            .map(|tag| loan(u64::from(tag), 999, 1, tag))
            .collect();
        let found = excess(&mut loans, 99, 250);
        assert_eq!(found.count, 801);
        let named: Vec<usize> = found.first.iter().map(Vec::len).collect();
        assert_eq!(named, [100, 100, 100]);
    }

    #[test]
    fn as_many_as_there_are_permits_may_hold_and_a_tie_is_no_excess() {
        let mut loans = vec![loan(0, 5, 1, 1), loan(1, 5, 1, 2), loan(5, 9, 1, 3)];
        assert_eq!(excess(&mut loans, 2, 9), Excess::default());
    }

    #[test]
    fn the_holders_named_are_too_many_and_none_can_be_left_out() {
        let mut loans = vec![loan(0, 9, 2, 1), loan(1, 9, 1, 2), loan(2, 9, 2, 3)];
        let found = excess(&mut loans, 3, 9);
        assert_eq!(found.count, 1);
        assert_eq!(found.first, [vec![1, 3]]);
    }
}
