//! Locks that stay after their owner gave them back in vain, because a session keeps them.
//!
//! A member of ZooKeeper keeps a node for as long as the session of its client, whatever lease the
//! client goes by. A release that did not arrive leaves the node there, and the client's other
//! requests keep the session alive.

use crate::history::{Mode, Nanos};
use crate::holds::Hold;
use crate::operations::{Digest, OwnerId};

/// Sets up to when sessions may have kept the holds of one key: until somebody else was certainly
/// granted the lock, which shows that it was gone.
pub(super) fn settle(digest: &Digest, holds: &mut [Hold]) {
    if !holds.iter().any(|hold| lingers(digest, hold)) {
        return;
    }
    let all = Grants::new(holds, |_| true);
    let writes = Grants::new(holds, |mode| mode == Mode::Write);
    for hold in holds.iter_mut().filter(|hold| lingers(digest, hold)) {
        hold.lingers = match hold.mode {
            _ if digest.header.permits > Some(1) => Nanos::MAX,
            Mode::Write => all.of_another(hold),
            Mode::Read => writes.of_another(hold),
        };
    }
}

/// Tells whether its owner left it, and nothing shows that the service heard of it. An owner whose
/// lease had run out by then may have kept its session alive by other requests.
fn lingers(digest: &Digest, hold: &Hold) -> bool {
    let is_kept = digest.operation(hold.acquire).is_kept_by_session;
    is_kept && hold.hull.end == Nanos::MAX && hold.core.end < Nanos::MAX
}

/// Grants in the order in which they certainly were there.
struct Grants {
    by_time: Vec<(Nanos, OwnerId)>,
    /// For each the next one to another owner, or the number of all.
    next: Vec<usize>,
}

impl Grants {
    fn new(holds: &[Hold], includes: impl Fn(Mode) -> bool) -> Self {
        let granted = holds
            .iter()
            .filter(|hold| hold.is_granted() && includes(hold.mode));
        let mut by_time: Vec<_> = granted.map(|hold| (hold.core.start, hold.owner)).collect();
        by_time.sort_unstable();
        let mut next = vec![by_time.len(); by_time.len()];
        for at in (1..by_time.len()).rev() {
            let is_same = by_time[at - 1].1 == by_time[at].1;
            next[at - 1] = if is_same { next[at] } else { at };
        }
        Self { by_time, next }
    }

    /// Time of the first grant to somebody else after the owner left this one; [`Nanos::MAX`] if
    /// there is none.
    fn of_another(&self, left: &Hold) -> Nanos {
        let first = self
            .by_time
            .partition_point(|&(granted, _)| granted < left.core.end);
        let is_own = self
            .by_time
            .get(first)
            .is_some_and(|&(_, owner)| owner == left.owner);
        let at = if is_own { self.next[first] } else { first };
        self.by_time
            .get(at)
            .map_or(Nanos::MAX, |&(granted, _)| granted)
    }
}
