//! Which operations of a history are embedded: all of them, or those of some windows.

use lockstorm_checker::{Digest, Hold, Interval, Nanos, OpId, Operation};

/// Stands for an operation that is left out.
const LEFT_OUT: u32 = u32::MAX;

/// A choice of operations, which are numbered again from zero.
#[derive(Clone, Debug)]
pub(super) struct Selection {
    /// Position in the history, by number.
    positions: Vec<u32>,
    /// Number, by position in the history.
    numbers: Vec<u32>,
}

impl Selection {
    pub(super) fn whole(digest: &Digest) -> Self {
        Self::of(&vec![true; digest.operations.len()])
    }

    /// All that was under way in any of `windows`; a hold with both of its ends.
    pub(super) fn of_windows(digest: &Digest, holds: &[&Hold], windows: &[Interval]) -> Self {
        let meets = |from: Nanos, to: Nanos| {
            let mut windows = windows.iter();
            windows.any(|window| from <= window.end && window.start <= to)
        };
        let ended =
            |operation: &Operation| operation.completion.map_or(operation.invoked, |c| c.time);
        let mut chosen: Vec<bool> = digest
            .operations
            .iter()
            .map(|operation| meets(operation.invoked, ended(operation)))
            .collect();
        for hold in holds {
            let (from, to) = extent_of(hold);
            let parts = [Some(hold.acquire), hold.release];
            let mut parts = parts.into_iter().flatten();
            let is_chosen = parts.any(|id| chosen[id.position()]) || meets(from, to);
            if is_chosen {
                chosen[hold.acquire.position()] = true;
                if let Some(release) = hold.release {
                    chosen[release.position()] = true;
                }
            }
        }
        Self::of(&chosen)
    }

    fn of(chosen: &[bool]) -> Self {
        let mut selection = Self {
            positions: Vec::with_capacity(chosen.len()),
            numbers: vec![LEFT_OUT; chosen.len()],
        };
        for (position, _) in chosen.iter().enumerate().filter(|(_, chosen)| **chosen) {
            selection.numbers[position] = selection.positions.len() as u32;
            selection.positions.push(position as u32);
        }
        selection
    }

    /// Number of entries.
    pub(super) fn len(&self) -> usize {
        self.positions.len()
    }

    /// Where they are in the history, in order of their invocation.
    pub(super) fn positions(&self) -> impl DoubleEndedIterator<Item = usize> + ExactSizeIterator {
        self.positions.iter().map(|&position| position as usize)
    }

    /// Tells whether an operation is among them.
    pub(super) fn has(&self, id: OpId) -> bool {
        self.numbers[id.position()] != LEFT_OUT
    }

    /// The number of one of them.
    pub(super) fn number(&self, id: OpId) -> u64 {
        let number = self.numbers[id.position()];
        assert!(number != LEFT_OUT, "only what is selected has a number");
        number.into()
    }
}

/// From the first to the last instant at which a hold is drawn, without a lease that has no end.
pub(super) fn extent_of(hold: &Hold) -> (Nanos, Nanos) {
    let end = match (hold.core.end, hold.hull.end) {
        // Nobody ever released it: it is drawn to the end of its lease, or of the run.
        (Nanos::MAX, _) => hold.lease.ceiling,
        (core, Nanos::MAX) if hold.lease.ceiling == Nanos::MAX => core,
        (core, Nanos::MAX) => core.max(hold.lease.ceiling),
        (core, hull) => core.max(hull),
    };
    (hold.hull.start, end)
}
