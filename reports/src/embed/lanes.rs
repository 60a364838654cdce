//! The lanes of the timeline: one for each client of each lock, the clients of a lock side by side.

use std::collections::HashMap;

use lockstorm_checker::{Digest, KeyId, OpId, OwnerId};

/// A lane: a lock, and a client that asked for it.
pub(super) type Place = (KeyId, OwnerId);

/// The lanes from top to bottom, and which one each operation is in.
#[derive(Clone, Debug, Default)]
pub(super) struct Lanes {
    pub(super) places: Vec<Place>,
    /// By position in the history.
    of_operations: Vec<u32>,
}

impl Lanes {
    /// The lanes of a history: locks in order of their first sight, their clients by name, where
    /// `c2` comes before `c10`.
    pub(super) fn of(digest: &Digest) -> Self {
        // Numbered as they come, for the order is known only when all have been seen.
        let mut seen: HashMap<Place, u32> = HashMap::new();
        let in_turn = digest.operations.iter().map(|operation| {
            let next = seen.len() as u32;
            let place = (operation.key, operation.owner);
            *seen.entry(place).or_insert(next)
        });
        let mut of_operations: Vec<u32> = in_turn.collect();
        let mut lanes: Vec<(Place, u32)> = seen.into_iter().collect();
        lanes.sort_unstable_by_key(|&((key, owner), _)| {
            let name = digest.owner(owner);
            (key, name.len(), name, owner)
        });
        let mut numbers = vec![0; lanes.len()];
        for (number, (_, seen)) in (0..).zip(&lanes) {
            numbers[*seen as usize] = number;
        }
        for lane in &mut of_operations {
            *lane = numbers[*lane as usize];
        }
        Self {
            places: lanes.into_iter().map(|(place, _)| place).collect(),
            of_operations,
        }
    }

    /// The lane of the operation at this position in the history.
    pub(super) fn at(&self, position: usize) -> u32 {
        self.of_operations[position]
    }

    /// The lane of an operation.
    pub(super) fn of_operation(&self, id: OpId) -> u32 {
        self.at(id.position())
    }

    pub(super) fn len(&self) -> usize {
        self.places.len()
    }
}
