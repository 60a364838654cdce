//! Suspensions: words that nobody knows whether a lock is held, which a later word may take back.
//!
//! A lock that was held all the time takes back what was said of it since it was taken. What a loss
//! or a release has ended stays, whatever comes after: it was of a hold before.

use std::collections::HashMap;

use super::notes::LostNote;
use crate::operations::{KeyId, OwnerId};

/// Positions of notes among the losses of a digest.
#[derive(Debug, Default)]
pub(super) struct Suspensions {
    /// Those that may be taken back, by lock and owner.
    open: HashMap<(KeyId, OwnerId), Vec<usize>>,
    taken_back: Vec<usize>,
}

impl Suspensions {
    /// The loss at this position says that nobody knows.
    pub(super) fn begin(&mut self, place: (KeyId, OwnerId), position: usize) {
        self.open.entry(place).or_default().push(position);
    }

    /// The hold is over.
    pub(super) fn stand(&mut self, place: (KeyId, OwnerId)) {
        self.open.remove(&place);
    }

    /// The lock was held all the time; false if nothing was said that this takes back.
    pub(super) fn take_back(&mut self, place: (KeyId, OwnerId)) -> bool {
        let notes = self.open.remove(&place).unwrap_or_default();
        let is_any = !notes.is_empty();
        self.taken_back.extend(notes);
        is_any
    }

    /// Removes what was taken back.
    pub(super) fn finish(mut self, lost: &mut Vec<LostNote>) {
        self.taken_back.sort_unstable();
        let mut over = self.taken_back.into_iter().peekable();
        let mut position = 0;
        lost.retain(|_| {
            let is_over = over.next_if_eq(&position).is_some();
            position += 1;
            !is_over
        });
    }
}
