//! The lanes of the timeline: one for each client of each lock, the clients of a lock side by side.

use std::collections::HashMap;

use lockstorm_checker::{Digest, KeyId, OwnerId};

/// A lane: a lock, and a client that asked for it.
pub(super) type Place = (KeyId, OwnerId);

/// The lanes from top to bottom, and the way back to their numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Lanes {
    pub(super) places: Vec<Place>,
    numbers: HashMap<Place, u32>,
}

impl Lanes {
    /// The lanes of a history: locks in order of their first sight, their clients by name, where
    /// `c2` comes before `c10`.
    pub(super) fn of(digest: &Digest) -> Self {
        let mut numbers: HashMap<Place, u32> = HashMap::new();
        for operation in &digest.operations {
            numbers.entry((operation.key, operation.owner)).or_default();
        }
        let mut places: Vec<Place> = numbers.keys().copied().collect();
        places.sort_unstable_by_key(|&(key, owner)| {
            let name = digest.owner(owner);
            (key, name.len(), name, owner)
        });
        for (number, place) in (0..).zip(&places) {
            numbers.insert(*place, number);
        }
        Self { places, numbers }
    }

    /// The number of a lane, if there is one.
    pub(super) fn number(&self, place: Place) -> Option<u32> {
        self.numbers.get(&place).copied()
    }

    pub(super) fn len(&self) -> usize {
        self.places.len()
    }
}
