//! The operations of each owner on each lock, cut where a new hold of it begins.
//!
//! A hold makes no sense without the renewals and releases that followed: a cycle is carried on as
//! a whole or not at all. An acquire of unknown outcome that was sent inside a hold may have been
//! granted to the holder; it belongs to that hold.

use std::collections::HashMap;

use crate::case::Case;
use crate::history::Nanos;
use crate::hold::Hold;
use crate::operation::{KeyId, OpId, OwnerId};

/// Which cycle each operation is in, and which are kept.
pub(super) struct Cycles {
    of: Vec<u32>,
    kept: Vec<bool>,
    /// Whether the service last said that the owner still has some of its grants.
    counted: Vec<bool>,
}

impl Cycles {
    pub(super) fn new(case: &Case) -> Self {
        let operations = &case.digest.operations;
        let mut begins: Vec<Option<&Hold>> = vec![None; operations.len()];
        for hold in case.holds {
            begins[hold.acquire.position()] = Some(hold);
        }
        // The last cycle of each owner, and until when it is inside its hold.
        let mut last: HashMap<(KeyId, OwnerId), (u32, Nanos)> = HashMap::new();
        let (mut of, mut counted) = (Vec::with_capacity(operations.len()), Vec::new());
        for (operation, begun) in operations.iter().zip(begins) {
            let place = (operation.key, operation.owner);
            let next = counted.len() as u32;
            let (cycle, until) = last.entry(place).or_insert((next, Nanos(0)));
            if let Some(hold) = begun {
                let is_left = counted.get(*cycle as usize).is_some_and(|&counted| counted);
                if !is_left && (operation.is_grant() || *until <= operation.invoked) {
                    *cycle = next;
                }
                if hold.is_granted() {
                    *until = hold.core.end;
                }
            }
            if *cycle == next {
                counted.push(false);
            }
            if let Some(count) = operation.count {
                counted[*cycle as usize] = count > 0;
            }
            of.push(*cycle);
        }
        Self {
            of,
            kept: vec![false; counted.len()],
            counted,
        }
    }

    /// Keeps the cycle of an operation.
    pub(super) fn keep(&mut self, id: OpId) {
        self.kept[self.of[id.position()] as usize] = true;
    }

    /// Whether the service has last said that grants are left of the cycle of an operation.
    pub(super) fn is_left(&self, id: OpId) -> bool {
        self.counted[self.of[id.position()] as usize]
    }

    pub(super) fn keeps(&self, id: OpId) -> bool {
        self.kept[self.of[id.position()] as usize]
    }
}
