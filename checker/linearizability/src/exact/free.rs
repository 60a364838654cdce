//! Refused tries in stretches that are free however far the sessions are stretched.
//!
//! ```text
//!   core of a             core of b
//!   =====|~~~~>|        |<~~~~~~|=====      "~" as far as the hold may reach
//!               <------>                    free: a try may touch it, and reach out of it, but to
//!               |- - - - - - - -|           lie inside it must meet a phantom
//! ```
//!
//! A phantom holds once, between two cores. It may begin at any time after it was sent, and end at
//! any time after its lease may have: what ends before the next grant was answered can as well
//! last until then. So in one such gap one phantom does for all tries, if it was sent before the
//! first of them returned. Who does for one gap does for all later ones: the gaps take what there
//! is, the earliest first.

use super::sessions::{Phantom, Session, Try};
use crate::call::CallId;
use crate::time::Time;

/// Outcome of explaining the refused tries.
pub(super) enum Explained {
    /// Each met a holder.
    All,
    /// This one did not, the first for which there is no explanation.
    AllBut {
        attempt: CallId,
        /// The place of the session that had certainly ended before it.
        after: Option<usize>,
    },
    /// Several sessions can have been at one instant in any order.
    Unclear,
}

/// Tells whether each try met a holder. Cores do not clash, and are in order.
pub(super) fn explain(sessions: &[Session], tries: &[Try], phantoms: &[Phantom]) -> Explained {
    let at_once =
        |pair: &[Session]| pair[0].granted == pair[1].end_min && pair[0].granted == pair[0].end_min;
    if sessions.windows(2).any(at_once) {
        return Explained::Unclear;
    }
    let zones = zones(sessions, tries);
    let mut joining = vec![0_u32; zones.len() + 1];
    for phantom in phantoms {
        let is_late = |zone: &Zone| zone.refused < phantom.sent || zone.next < phantom.end_min;
        joining[zones.partition_point(is_late)] += 1;
    }
    let mut left = 0;
    for (zone, joining) in zones.iter().zip(joining) {
        left += joining;
        if left == 0 {
            return Explained::AllBut {
                attempt: zone.attempt,
                after: zone.after,
            };
        }
        left -= 1;
    }
    Explained::All
}

/// A stretch, without its ends, that is free but for phantoms.
struct Zone {
    /// The place of the session before it.
    after: Option<usize>,
    /// `None`: from the start of the history on.
    start: Option<Time>,
    /// `None`: forever.
    end: Option<Time>,
    /// Time at which the next grant was answered; [`Time::MAX`] if there is none.
    next: Time,
    /// The first answer to a try inside, and the try.
    refused: Time,
    attempt: CallId,
}

/// The stretches inside of which somebody was refused, in order.
fn zones(sessions: &[Session], tries: &[Try]) -> Vec<Zone> {
    let mut zones = free(sessions);
    for attempt in tries {
        let after =
            zones.partition_point(|zone| zone.start.is_none_or(|start| start < attempt.sent));
        let zone = after.checked_sub(1).map(|at| &mut zones[at]);
        if let Some(zone) = zone
            && zone.end.is_none_or(|end| attempt.refused < end)
            && (attempt.refused, attempt.id) < (zone.refused, zone.attempt)
        {
            (zone.refused, zone.attempt) = (attempt.refused, attempt.id);
        }
    }
    zones.retain(|zone| zone.refused < Time::MAX);
    zones
}

/// All such stretches, in order: between the last end of a session and the sending of the next.
fn free(sessions: &[Session]) -> Vec<Zone> {
    let places = std::iter::once(None).chain((0..sessions.len()).map(Some));
    let ends = sessions.iter().map(Some).chain(std::iter::once(None));
    places
        .zip(ends)
        .map(|(after, next)| Zone {
            after,
            start: after.map(|after| sessions[after].end_max),
            end: next.map(|next| next.sent),
            next: next.map_or(Time::MAX, |next| next.granted),
            refused: Time::MAX,
            attempt: CallId(u32::MAX),
        })
        .filter(|zone| match (zone.start, zone.end) {
            (Some(start), Some(end)) => start < end,
            (Some(start), None) => start < Time::MAX,
            (None, _) => true,
        })
        .collect()
}
