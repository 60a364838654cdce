//! Refused tries in stretches that are free however far the sessions are stretched.
//!
//! ```text
//!   core of a             core of b
//!   =====|~~~~>|        |<~~~~~~|=====      "~" as far as the hold may reach
//!               <------>                    free for certain: a try may touch it, and reach out of
//!                                           it, but not lie inside
//! ```

use super::sessions::{Session, Try};
use crate::history::Nanos;
use crate::model::CallId;

/// What became of the tries.
pub(super) enum Explained {
    /// Each met a holder.
    All,
    /// This one, the first to return, did not.
    AllBut(CallId),
    /// Several sessions can have been at one instant in any order.
    Unclear,
}

/// Whether each try met a holder. Cores do not clash, and are in order; `crashed` is when an
/// acquire that may hold for ever, after all others, was sent.
pub(super) fn explain(sessions: &[Session], tries: &[Try], crashed: Option<Nanos>) -> Explained {
    let at_once =
        |pair: &[Session]| pair[0].granted == pair[1].end_min && pair[0].granted == pair[0].end_min;
    if sessions.windows(2).any(at_once) {
        return Explained::Unclear;
    }
    let free = free(sessions, crashed);
    let unexplained = tries.iter().filter(|attempt| {
        let before = free.partition_point(|&(start, _)| start.is_none_or(|at| at < attempt.sent));
        let zone = free[..before].last();
        zone.is_some_and(|&(_, end)| end.is_none_or(|end| attempt.refused < end))
    });
    match unexplained.min_by_key(|attempt| (attempt.refused, attempt.id)) {
        Some(attempt) => Explained::AllBut(attempt.id),
        None => Explained::All,
    }
}

/// A stretch without its ends; `None` where it has none.
type Zone = (Option<Nanos>, Option<Nanos>);

/// The stretches that are free for certain, in order.
fn free(sessions: &[Session], crashed: Option<Nanos>) -> Vec<Zone> {
    let starts = std::iter::once(None).chain(sessions.iter().map(|one| Some(one.end_max)));
    let ends = sessions.iter().map(|one| Some(one.sent));
    starts
        .zip(ends.chain(std::iter::once(crashed)))
        .filter(|&(start, end)| match (start, end) {
            (Some(start), Some(end)) => start < end,
            (Some(start), None) => start < Nanos::MAX,
            (None, _) => true,
        })
        .collect()
}
