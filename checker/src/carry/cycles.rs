//! The operations of each owner on each lock, cut where a hold of it begins.
//!
//! A hold makes no sense without the renewals and releases that followed: a cycle is carried on as
//! a whole or not at all.

use std::collections::HashMap;

use crate::case::Case;
use crate::operation::{KeyId, OpId, OwnerId};

/// Which cycle each operation is in, and which are kept.
pub(super) struct Cycles {
    of: Vec<u32>,
    kept: Vec<bool>,
}

impl Cycles {
    pub(super) fn new(case: &Case) -> Self {
        let operations = &case.digest.operations;
        let mut begins = vec![false; operations.len()];
        for hold in case.holds {
            begins[hold.acquire.0 as usize] = true;
        }
        let mut last: HashMap<(KeyId, OwnerId), u32> = HashMap::new();
        let (mut of, mut count) = (Vec::with_capacity(operations.len()), 0);
        for (operation, begins) in operations.iter().zip(begins) {
            let cycle = last
                .entry((operation.key, operation.owner))
                .or_insert(count);
            if begins {
                *cycle = count;
            }
            count += u32::from(*cycle == count);
            of.push(*cycle);
        }
        Self {
            of,
            kept: vec![false; count as usize],
        }
    }

    /// Keeps the cycle of an operation.
    pub(super) fn keep(&mut self, id: OpId) {
        self.kept[self.of[id.0 as usize] as usize] = true;
    }

    pub(super) fn keeps(&self, id: OpId) -> bool {
        self.kept[self.of[id.0 as usize] as usize]
    }
}
