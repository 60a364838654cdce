//! Cores that do not leave each other alone.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Rules;
use super::sessions::Session;
use crate::time::Time;

/// The places of the first sessions whose cores leave no room for each other; sessions are in
/// order.
///
/// What ends in the instant in which another begins, ended before it. A core without length takes
/// its turn between those that end and those that begin in its instant.
pub(super) fn clash(rules: Rules, sessions: &[Session]) -> Option<Vec<usize>> {
    let mut held: BinaryHeap<Reverse<(Time, bool, usize)>> = BinaryHeap::new();
    let mut alone = 0_u32;
    for (at, session) in sessions.iter().enumerate() {
        while let Some(&Reverse((end, is_shared, _))) = held.peek()
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
            let held = held.into_iter().map(|Reverse((.., at))| at);
            return Some(held.chain([at]).collect());
        }
        if session.end_min > session.granted {
            held.push(Reverse((session.end_min, session.is_shared, at)));
            alone += u32::from(!session.is_shared);
        }
    }
    None
}
