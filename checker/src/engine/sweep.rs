//! The core sweep: which intervals of distinct owners overlap, in O(n log n).
//!
//! For: counting every conflicting pair and listing the first of them. Not for: deciding which
//! interval of a hold counts; that is the business of a property.
//!
//! Spans are taken by start. A span conflicts with those before it that have not ended, are of
//! another owner, and do not share the lock with it. The number of those is kept as four totals
//! (all or one owner's, alone or shared), so that a million conflicts cost no more than none.

use std::collections::HashMap;

use crate::history::Nanos;
use crate::operations::{Interval, OwnerId};

/// An interval that takes part in a sweep. An empty one takes no part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) interval: Interval,
    pub(crate) owner: OwnerId,
    /// `true` if it tolerates other shared spans.
    pub(crate) shared: bool,
    pub(crate) side: Side,
    /// Number by which the caller knows it.
    pub(crate) tag: u32,
}

/// Side of a span, which decides against which others it is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Against each other.
    Peer,
    /// Against the right ones.
    Left,
    /// Against the left ones.
    Right,
}

/// Result of a sweep.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Conflicts {
    /// All conflicting pairs.
    pub(crate) count: u64,
    /// The tags of the first of them: the span that began first, then the other.
    pub(crate) first: Vec<(u32, u32)>,
}

/// Sweeps over `spans` and lists up to `limit` pairs, by the start of their overlap.
pub(crate) fn sweep(spans: &mut Vec<Span>, limit: usize) -> Conflicts {
    spans.retain(|span| !span.interval.is_empty());
    spans.sort_by_key(|span| span.interval.start);
    if !any_overlap(spans) {
        return Conflicts::default();
    }
    let mut ends: Vec<(Nanos, u32)> = (0..)
        .zip(&*spans)
        .map(|(position, span)| (span.interval.end, position))
        .collect();
    ends.sort_unstable();
    let mut ended = ends.into_iter().peekable();
    let mut active = Active::default();
    let mut conflicts = Conflicts::default();
    for (position, span) in (0..).zip(&*spans) {
        // What ends in the instant in which this begins is gone: a tie proves nothing.
        while let Some((_, gone)) = ended.next_if(|&(end, _)| end <= span.interval.start) {
            active.end(&spans[gone as usize]);
        }
        let opponents = active.opponents(span);
        conflicts.count += opponents;
        let room = limit - conflicts.first.len();
        if opponents > 0 && room > 0 {
            let found = active.list(spans, span).take(room);
            conflicts.first.extend(found.map(|tag| (tag, span.tag)));
        }
        active.begin(span, position);
    }
    conflicts
}

/// Tells whether any two spans overlap at all, even two of one owner: the common answer is no, and
/// then there is nothing to count.
fn any_overlap(spans: &[Span]) -> bool {
    spans
        .windows(2)
        .any(|pair| pair[1].interval.start < pair[0].interval.end)
}

/// Number of spans of each kind that are under way.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    alone: u64,
    shared: u64,
}

impl Tally {
    fn of(&mut self, span: &Span) -> &mut u64 {
        if span.shared {
            &mut self.shared
        } else {
            &mut self.alone
        }
    }

    fn against(self, span: &Span) -> u64 {
        if span.shared {
            self.alone
        } else {
            self.alone + self.shared
        }
    }
}

/// The spans under way, by side.
#[derive(Debug, Default)]
struct Active {
    all: [Tally; 2],
    by_owner: HashMap<OwnerId, [Tally; 2]>,
    /// Positions of spans, alone and shared, by side; some have ended and wait to be swept out.
    listed: [[Vec<u32>; 2]; 2],
}

impl Active {
    fn begin(&mut self, span: &Span, position: u32) {
        let own = own_slot(span.side);
        *self.all[own].of(span) += 1;
        *self.by_owner.entry(span.owner).or_default()[own].of(span) += 1;
        self.listed[own][usize::from(span.shared)].push(position);
    }

    fn end(&mut self, span: &Span) {
        let own = own_slot(span.side);
        *self.all[own].of(span) -= 1;
        if let Some(tallies) = self.by_owner.get_mut(&span.owner) {
            *tallies[own].of(span) -= 1;
        }
    }

    fn opponents(&self, span: &Span) -> u64 {
        let other = other_slot(span.side);
        let own = self.by_owner.get(&span.owner);
        self.all[other].against(span) - own.map_or(0, |tallies| tallies[other].against(span))
    }

    /// The tags of the opponents of `span`, by start.
    fn list<'a>(&mut self, spans: &'a [Span], span: &'a Span) -> impl Iterator<Item = u32> + 'a {
        let [alone, shared] = &mut self.listed[other_slot(span.side)];
        let mut found = Vec::new();
        let mut gather = |list: &mut Vec<u32>| {
            list.retain(|&at| spans[at as usize].interval.end > span.interval.start);
            found.extend(
                list.iter()
                    .copied()
                    .filter(|&at| spans[at as usize].owner != span.owner),
            );
        };
        gather(alone);
        if !span.shared {
            gather(shared);
        }
        found.sort_unstable();
        found.into_iter().map(|at| spans[at as usize].tag)
    }
}

fn own_slot(side: Side) -> usize {
    match side {
        Side::Peer | Side::Left => 0,
        Side::Right => 1,
    }
}

fn other_slot(side: Side) -> usize {
    match side {
        Side::Peer | Side::Right => 0,
        Side::Left => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: u64, end: u64, owner: u32) -> Span {
        Span {
            interval: Interval::new(Nanos(start), Nanos(end)),
            owner: OwnerId(owner),
            shared: false,
            side: Side::Peer,
            tag: u32::try_from(start).unwrap(),
        }
    }

    fn reader(start: u64, end: u64, owner: u32) -> Span {
        Span {
            shared: true,
            ..span(start, end, owner)
        }
    }

    fn pairs(mut spans: Vec<Span>) -> (u64, Vec<(u32, u32)>) {
        let conflicts = sweep(&mut spans, 10);
        (conflicts.count, conflicts.first)
    }

    #[test]
    fn spans_that_touch_or_belong_to_one_owner_do_not_conflict() {
        assert_eq!(pairs(vec![span(0, 5, 1), span(5, 9, 2)]).0, 0);
        assert_eq!(pairs(vec![span(0, 5, 1), span(3, 9, 1)]).0, 0);
        assert_eq!(pairs(vec![span(0, 5, 1), span(3, 3, 2)]).0, 0);
    }

    #[test]
    fn every_pair_is_counted_and_the_first_are_listed_by_the_start_of_their_overlap() {
        let spans = vec![span(0, 9, 1), span(1, 9, 2), span(2, 3, 3), span(4, 5, 4)];
        let (count, first) = pairs(spans);
        assert_eq!(count, 5);
        assert_eq!(first, [(0, 1), (0, 2), (1, 2), (0, 4), (1, 4)]);
    }

    #[test]
    fn readers_share_and_a_writer_conflicts_with_each() {
        assert_eq!(pairs(vec![reader(0, 9, 1), reader(1, 9, 2)]).0, 0);
        assert_eq!(
            pairs(vec![reader(0, 9, 1), reader(1, 9, 2), span(2, 3, 3)]).0,
            2
        );
        assert_eq!(
            pairs(vec![span(0, 9, 1), reader(1, 9, 2), reader(2, 9, 3)]).0,
            2
        );
    }

    #[test]
    fn left_spans_conflict_with_right_ones_only() {
        let left = |start, end, owner| Span {
            side: Side::Left,
            ..span(start, end, owner)
        };
        let right = |start, end, owner| Span {
            side: Side::Right,
            ..span(start, end, owner)
        };
        assert_eq!(pairs(vec![left(0, 9, 1), left(1, 9, 2)]).0, 0);
        assert_eq!(pairs(vec![right(0, 9, 1), right(1, 9, 2)]).0, 0);
        assert_eq!(pairs(vec![right(0, 9, 1), left(1, 9, 2)]).1, [(0, 1)]);
        assert_eq!(pairs(vec![left(0, 9, 1), right(1, 9, 1)]).0, 0);
    }

    #[test]
    fn a_crowd_of_conflicts_is_counted_beyond_the_limit_of_the_list() {
        let crowd: Vec<Span> = (0..2000).map(|n| span(n, 10_000, n as u32)).collect();
        let (count, first) = pairs(crowd);
        assert_eq!(count, 2000 * 1999 / 2);
        assert_eq!(first.len(), 10);
    }
}
