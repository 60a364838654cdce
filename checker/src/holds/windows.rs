//! A union of intervals, for asking how another interval lies to all of them at once.

use crate::history::Nanos;
use crate::operations::Interval;

/// Disjoint intervals in order, merged from any number of them.
#[derive(Debug, Default)]
pub(crate) struct Windows(Vec<Interval>);

impl Windows {
    pub(crate) fn union(mut parts: Vec<Interval>) -> Self {
        parts.retain(|part| part.start <= part.end);
        parts.sort_by_key(|part| part.start);
        let mut merged: Vec<Interval> = Vec::new();
        for part in parts {
            match merged.last_mut() {
                Some(last) if part.start <= last.end => last.end = last.end.max(part.end),
                Some(_) | None => merged.push(part),
            }
        }
        Self(merged)
    }

    /// All of them, in order.
    pub(crate) fn each(&self) -> &[Interval] {
        &self.0
    }

    /// Tells whether `interval` has an instant in common with any of them.
    pub(crate) fn touch(&self, interval: Interval) -> bool {
        let first = self.0.partition_point(|window| window.end < interval.start);
        self.0
            .get(first)
            .is_some_and(|window| window.touches(interval))
    }

    /// The stretches between them that are longer than `length`, from zero on.
    pub(crate) fn gaps_longer_than(&self, length: Nanos) -> Vec<Interval> {
        let starts = std::iter::once(Nanos(0)).chain(self.0.iter().map(|window| window.end));
        let ends = self.0.iter().map(|window| window.start);
        starts
            .zip(ends.chain(std::iter::once(Nanos::MAX)))
            .map(|(start, end)| Interval::new(start, end))
            .filter(|gap| gap.length() > length)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn union(parts: &[(u64, u64)]) -> Windows {
        let interval = |&(start, end)| Interval::new(Nanos(start), Nanos(end));
        Windows::union(parts.iter().map(interval).collect())
    }

    #[test]
    fn an_instant_inside_or_at_the_edge_touches_and_one_between_does_not() {
        let windows = union(&[(9, 12), (1, 3), (2, 5)]);
        for (at, touches) in [
            (0, false),
            (1, true),
            (5, true),
            (7, false),
            (12, true),
            (13, false),
        ] {
            let instant = Interval::new(Nanos(at), Nanos(at));
            assert_eq!(windows.touch(instant), touches, "at {at}");
        }
    }

    #[test]
    fn gaps_lie_before_between_and_after() {
        let gaps = union(&[(4, 5), (6, 9)]).gaps_longer_than(Nanos(3));
        let expected = [(0, 4), (9, u64::MAX)];
        assert_eq!(gaps.len(), 2);
        for (gap, (start, end)) in gaps.iter().zip(expected) {
            assert_eq!((gap.start, gap.end), (Nanos(start), Nanos(end)));
        }
    }
}
