//! The operations of each owner on each lock, cut where a new hold of it begins.
//!
//! A hold makes no sense without the renewals and releases that followed: a cycle is carried on as
//! a whole or not at all. An acquire of unknown outcome that was sent inside a hold may have been
//! granted to the holder; it belongs to that hold. What a writer reads inside its hold belongs to
//! the same cycle, and what it goes on to read after it.

use std::collections::HashMap;

use crate::case::Case;
use crate::history::Nanos;
use crate::hold::Hold;
use crate::operation::{Action, KeyId, OpId, OwnerId};

/// Which cycle each operation is in, and which are kept.
pub(super) struct Cycles {
    of: Vec<u32>,
    kept: Vec<bool>,
    /// Whether the service last said that the owner still has some of its grants, of each mode.
    counted: Vec<[bool; 2]>,
}

/// The last cycle of an owner in one mode, and until when it is inside its hold.
#[derive(Clone, Copy, Default)]
struct Last {
    cycle: Option<u32>,
    until: Nanos,
}

impl Cycles {
    pub(super) fn new(case: &Case) -> Self {
        let operations = &case.digest.operations;
        let mut begins: Vec<Option<&Hold>> = vec![None; operations.len()];
        for hold in case.holds {
            begins[hold.acquire.position()] = Some(hold);
        }
        let strays = strays(case);
        let mut last: HashMap<(KeyId, OwnerId), [Last; 2]> = HashMap::new();
        let mut of: Vec<u32> = Vec::with_capacity(operations.len());
        let mut counted: Vec<[bool; 2]> = Vec::new();
        for ((id, operation), begun) in OpId::each(operations).zip(begins) {
            let owner = last.entry((operation.key, operation.owner)).or_default();
            let mode = usize::from(operation.is_reader() && case.digest.has_two_modes());
            let (own, other) = (owner[mode], owner[1 - mode]);
            let cycle = match (begun, own.cycle) {
                (None, cycle) => match strays.get(&id) {
                    Some(acquire) => Some(of[acquire.position()]),
                    None => cycle,
                },
                (Some(_), Some(cycle)) if any(counted[cycle as usize]) => Some(cycle),
                (Some(_), _) if operation.invoked < other.until => other.cycle,
                (Some(_), cycle) => cycle.filter(|_| {
                    // Its hold, if it began one, is that which the owner has.
                    !operation.is_grant() && operation.invoked < own.until
                }),
            };
            let cycle = cycle.unwrap_or_else(|| {
                counted.push([false; 2]);
                counted.len() as u32 - 1
            });
            if begun.is_some() || own.cycle.is_none() {
                owner[mode].cycle = Some(cycle);
            }
            if let Some(hold) = begun.filter(|hold| hold.is_granted()) {
                owner[mode].until = hold.core.end;
            }
            if let Some(count) = operation.count {
                counted[cycle as usize][mode] = count > 0;
            }
            of.push(cycle);
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
        any(self.counted[self.of[id.position()] as usize])
    }

    pub(super) fn keeps(&self, id: OpId) -> bool {
        self.kept[self.of[id.position()] as usize]
    }
}

fn any(counted: [bool; 2]) -> bool {
    counted.contains(&true)
}

/// What ended a hold of the other mode than its own, with the acquire of that hold.
fn strays(case: &Case) -> HashMap<OpId, OpId> {
    let ends = |hold: &Hold| {
        let ends = [hold.release, hold.anew].into_iter().flatten();
        let (mode, acquire) = (hold.mode, hold.acquire);
        ends.filter_map(move |id| {
            let end = case.digest.operation(id);
            let is_stray = end.action != Action::Acquire && end.mode != mode;
            is_stray.then_some((id, acquire))
        })
    };
    case.holds.iter().flat_map(ends).collect()
}
