//! A search over all orders: can a lock with an owner have answered like this?
//!
//! For acquires and releases without leases, of owners that do one thing after the other. An
//! operation takes effect at one instant between its invocation and its answer; an indeterminate
//! one takes effect later than its invocation, or never.

use std::collections::HashSet;

use crate::oracle::ops::{Act, End, Op};

/// Tells whether some order of effects explains all answers.
pub(crate) fn explained(ops: &[Op]) -> bool {
    // Refused tries and failures are observations that change nothing; they are not asked about.
    let ops: Vec<&Op> = ops
        .iter()
        .filter(|op| matches!(op.end, End::Ok | End::Unknown))
        .collect();
    search(&ops, 0, None, &mut HashSet::new())
}

/// `done` is the set of operations that took effect, `holder` the state of the lock after them.
fn search(
    ops: &[&Op],
    done: u32,
    holder: Option<u8>,
    seen: &mut HashSet<(u32, Option<u8>)>,
) -> bool {
    let is_done = |position: usize| done & (1 << position) != 0;
    let required = |position: usize| ops[position].end == End::Ok && !is_done(position);
    if !(0..ops.len()).any(required) {
        return true;
    }
    if !seen.insert((done, holder)) {
        return false;
    }
    for (position, op) in ops.iter().enumerate() {
        // Whatever was answered before this one was sent must have taken effect before.
        let too_early = (0..ops.len()).any(|other| required(other) && ops[other].res < op.inv);
        let own = (0..position).any(|other| required(other) && ops[other].owner == op.owner);
        if is_done(position) || too_early || own {
            continue;
        }
        let next = match (op.act, holder) {
            (Act::Acquire, None) => Some(op.owner),
            (Act::Release, Some(holder)) if holder == op.owner => None,
            (Act::Acquire | Act::Release | Act::Renew | Act::Lost, _) => continue,
        };
        if search(ops, done | (1 << position), next, seen) {
            return true;
        }
    }
    false
}
