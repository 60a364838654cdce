//! Cores that do not leave each other alone.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Rules;
use super::sessions::Session;
use crate::history::Nanos;
use crate::model::CallId;

/// The first grant that the cores of those before it leave no room for; sessions are in order.
///
/// What ends in the instant in which another begins, ended before it. A core without length takes
/// its turn between those that end and those that begin in its instant.
pub(super) fn clash(rules: Rules, sessions: &[Session]) -> Option<CallId> {
    let mut held: BinaryHeap<Reverse<(Nanos, bool)>> = BinaryHeap::new();
    let mut alone = 0_u32;
    for session in sessions {
        while let Some(&Reverse((end, is_shared))) = held.peek()
            && end <= session.granted
        {
            held.pop();
            alone -= u32::from(!is_shared);
        }
        let has_room = match rules {
            Rules::Readers => held.is_empty() || (session.is_shared && alone == 0),
            Rules::Permits(permits) => held.len() < permits as usize,
            Rules::Ownerless | Rules::Exclusive { .. } | Rules::Reentrant { .. } => held.is_empty(),
        };
        if !has_room {
            return Some(session.acquire);
        }
        if session.end_min > session.granted {
            held.push(Reverse((session.end_min, session.is_shared)));
            alone += u32::from(!session.is_shared);
        }
    }
    None
}
