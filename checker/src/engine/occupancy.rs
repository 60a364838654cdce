//! Most permits of a lock that may be out in any stretch of time, in O(log n) a question.
//!
//! For: asking whether a lock was certainly free. Not for: accusing holders; here ties count as
//! concurrent, so that an interval still counts in the instant in which it ends.

use crate::history::Nanos;
use crate::operations::Interval;

/// The permits that may be out, at every instant.
#[derive(Debug, Default)]
pub(crate) struct Occupancy {
    /// Times at which the number changes, in order; at equal times it grows first.
    times: Vec<Nanos>,
    /// A tree of maxima over the numbers after each change; the leaves are its second half.
    most: Vec<u64>,
}

impl Occupancy {
    /// Of loans with their permits, in any order.
    pub(crate) fn of(loans: impl Iterator<Item = (Interval, u64)>) -> Self {
        let mut changes: Vec<(Nanos, bool, u64)> = loans
            .filter(|(interval, _)| interval.start <= interval.end)
            .flat_map(|(interval, permits)| {
                [
                    (interval.start, false, permits),
                    (interval.end, true, permits),
                ]
            })
            .collect();
        changes.sort_unstable();
        let leaves = changes.len();
        let mut most = vec![0; 2 * leaves];
        let mut out = 0_u64;
        for (position, &(_, ends, permits)) in changes.iter().enumerate() {
            out = if ends { out - permits } else { out + permits };
            most[leaves + position] = out;
        }
        for node in (1..leaves).rev() {
            most[node] = most[2 * node].max(most[2 * node + 1]);
        }
        Self {
            times: changes.into_iter().map(|(time, _, _)| time).collect(),
            most,
        }
    }

    /// The most that may have been out at an instant of `interval`, its ends included.
    pub(crate) fn most_in(&self, interval: Interval) -> u64 {
        let leaves = self.times.len();
        let first = self.times.partition_point(|&time| time < interval.start);
        let next = self.times.partition_point(|&time| time <= interval.end);
        // What the last change before it left, is out in its first instant.
        let (mut left, mut right) = (leaves + first.saturating_sub(1), leaves + next);
        let mut most = 0;
        while left < right {
            if left % 2 == 1 {
                most = most.max(self.most[left]);
                left += 1;
            }
            if right % 2 == 1 {
                right -= 1;
                most = most.max(self.most[right]);
            }
            (left, right) = (left / 2, right / 2);
        }
        most
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    fn interval(start: u64, end: u64) -> Interval {
        Interval::new(Nanos(start), Nanos(end))
    }

    #[test]
    fn random_questions_are_answered_as_one_instant_after_the_other_tells() {
        let mut rng = ChaCha8Rng::seed_from_u64(11);
        let mut some = |most: u64| {
            let start = rng.random_range(0..12);
            let end = start + rng.random_range(0..5);
            (interval(start, end), rng.random_range(1..=most))
        };
        for round in 0..2000 {
            let loans: Vec<(Interval, u64)> = (0..round % 7).map(|_| some(3)).collect();
            let occupancy = Occupancy::of(loans.iter().copied());
            let (asked, _) = some(1);
            let out = |at: u64| -> u64 {
                let covers = |(loan, _): &&(Interval, u64)| loan.touches(interval(at, at));
                loans
                    .iter()
                    .filter(covers)
                    .map(|(_, permits)| permits)
                    .sum()
            };
            let expected = (asked.start.0..=asked.end.0).map(out).max();
            assert_eq!(Some(occupancy.most_in(asked)), expected, "{loans:?}");
        }
    }

    #[test]
    fn a_loan_without_end_is_out_for_ever_and_nobody_holds_what_was_never_lent() {
        let occupancy = Occupancy::of([(interval(5, u64::MAX), 2)].into_iter());
        assert_eq!(occupancy.most_in(interval(0, 4)), 0);
        assert_eq!(occupancy.most_in(interval(900, u64::MAX)), 2);
        assert_eq!(Occupancy::default().most_in(interval(0, u64::MAX)), 0);
    }
}
