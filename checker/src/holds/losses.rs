//! Time that it takes until a holder is told that it has lost the lock.
//!
//! ```text
//! a   |--============floor~~~~~~~ceiling!!!!!!!!!!!|  told, or still at work
//!                                       <--------->
//! ```
//!
//! For: a figure of every run with holders that outlived their lease, and the findings of the
//! property of that name. Not for: a lock that the service dropped inside its lease, of which only
//! the servers know when that was.

use super::hold::Hold;
use crate::history::Nanos;
use crate::operations::{Digest, Interval};
use crate::verdict::Losses;

/// From the certain loss of a hold until its owner was told or gave it back, or was last known to
/// act as holder, and whether it was told; `None` where it did not go on after the loss.
pub(crate) fn notice(hold: &Hold) -> Option<(Interval, bool)> {
    let lost = hold.lease.ceiling;
    let is_told = hold.told_lost < Nanos::MAX && hold.told_lost <= hold.core.end;
    let until = if is_told {
        hold.told_lost
    } else {
        hold.core.end.min(hold.acting.max(hold.core.start))
    };
    let goes_on = hold.is_granted() && hold.is_leased() && lost < until;
    goes_on.then(|| (Interval::new(lost.min(until), until), is_told))
}

/// The figures over all holds; none where nobody went on after a loss.
pub(crate) fn losses(digest: &Digest, holds: &[Hold]) -> Option<Losses> {
    let mut losses = Losses::default();
    let leased = holds
        .iter()
        .filter(|hold| digest.operation(hold.acquire).lease.is_some());
    for (took, is_told) in leased.filter_map(notice) {
        losses.lost += 1;
        let longest = if is_told {
            losses.told += 1;
            &mut losses.longest
        } else {
            &mut losses.longest_untold
        };
        *longest = (*longest).max(took.length());
    }
    (losses.lost > 0).then_some(losses)
}
