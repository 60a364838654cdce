//! Locks that the client holds, by the answers that were given and the notes that were sent.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use crate::moment::Moment;
use crate::wire::Answer;
use crate::{Ask, Mode, Released};

/// A lock, and the mode in which it is held.
type Place = (String, Mode);

/// Locks that the client holds.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// `true` if a lock that is granted twice has to be given back twice.
    pub(crate) is_reentrant: bool,
    counts: BTreeMap<Place, u32>,
    suspended: BTreeSet<Place>,
    /// Locks that are lost by an answer that does not say so, and when, for a note after it.
    unsaid: Vec<(Ask, Option<Moment>)>,
}

impl Ledger {
    pub(crate) fn gain(&mut self, ask: &Ask) {
        let count = self.counts.entry(place(ask)).or_default();
        *count = if self.is_reentrant { *count + 1 } else { 1 };
    }

    pub(crate) fn give_back(&mut self, ask: &Ask, released: Released) {
        let count = self.counts.entry(place(ask)).or_default();
        *count = match released {
            Released::Free => count.saturating_sub(1),
            Released::OwnershipUnknown => 0,
            Released::Count(count) => count,
        };
    }

    pub(crate) fn lose(&mut self, ask: &Ask) {
        self.counts.remove(&place(ask));
        self.suspended.remove(&place(ask));
    }

    /// Loses a lock by an answer that does not say so: a note after it does.
    pub(crate) fn lose_by_answer(&mut self, ask: &Ask, moment: Option<Moment>) {
        self.lose(ask);
        self.unsaid.push((ask.clone(), moment));
    }

    pub(crate) fn unsaid(&mut self) -> Vec<(Ask, Option<Moment>)> {
        mem::take(&mut self.unsaid)
    }

    pub(crate) fn suspend(&mut self, ask: &Ask) {
        self.suspended.insert(place(ask));
    }

    pub(crate) fn resume(&mut self, ask: &Ask) {
        self.suspended.remove(&place(ask));
    }

    /// Answer to whether the client goes on as the holder.
    pub(crate) fn standing(&self, ask: &Ask) -> Answer {
        match self.counts.get(&place(ask)) {
            None | Some(0) => Answer::NotOwner,
            Some(_) if self.suspended.contains(&place(ask)) => Answer::Suspended,
            Some(_) => Answer::Held,
        }
    }
}

fn place(ask: &Ask) -> Place {
    (ask.key.clone(), ask.mode)
}
