//! A search over all orders in which operations may have taken effect.
//!
//! Each takes effect at one instant between its invocation and its answer, ties included; one
//! without an answer later than its invocation, or never. A service drops a leased grip once
//! between its floor and its ceiling, unless it was released.

use std::collections::HashSet;

use crate::model_oracle::ops::{Call, DRIFT, End, Op, processes};
use crate::model_oracle::state::{Model, State};

/// How the ceiling of a lease is read where a renewal came after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ceiling {
    /// That of what was granted until now: as a service does it.
    Exact,
    /// The latest of all that was ever granted to the hold: as the definitions have it.
    Latest,
}

/// Tells whether some order explains all answers.
pub(crate) fn explained(ops: &[Op], model: Model, ceiling: Ceiling) -> bool {
    let processes = processes(ops);
    let search = Search {
        model,
        steps: (0..ops.len())
            .filter(|&at| tells(&ops[at], model))
            .map(|at| (ops[at].clone(), processes[at], given(ops, at, ceiling)))
            .collect(),
    };
    let state = State {
        is_lenient: ceiling == Ceiling::Latest,
        ..State::default()
    };
    search.runs(0, &state, &mut HashSet::new())
}

/// Tells whether an operation can change anything, or say something of the state.
pub(crate) fn tells(op: &Op, model: Model) -> bool {
    let drops = model == Model::CasRegisterDropFailed;
    let dropped = drops && op.end == End::Denied && matches!(op.call, Call::Cas(..));
    // It changed nothing, and nobody saw what it read.
    let unseen = op.end == End::Unknown && matches!(op.call, Call::Read(_));
    op.end != End::Failed && !dropped && !unseen
}

/// When the lease that an operation gives has certainly run out.
fn given(ops: &[Op], at: usize, reading: Ceiling) -> u64 {
    let own = |op: &&Op| op.owner == ops[at].owner;
    let end = |op: &Op| match (op.end, &op.call) {
        (End::Unknown, _) => u64::MAX,
        (_, Call::Acquire { lease, .. } | Call::Renew { lease, .. }) => {
            lease.map_or(u64::MAX, |lease| op.res + lease + DRIFT)
        }
        _ => 0,
    };
    let later = ops[at + 1..]
        .iter()
        .filter(own)
        .take_while(|op| !matches!(op.call, Call::Release { .. }))
        .filter(|op| reading == Ceiling::Latest && matches!(op.end, End::Ok | End::Unknown));
    later.map(end).fold(end(&ops[at]), u64::max)
}

struct Search {
    model: Model,
    /// Operation, process, end of the lease that it gives.
    steps: Vec<(Op, u64, u64)>,
}

impl Search {
    fn runs(&self, done: u32, state: &State, seen: &mut HashSet<(u32, State)>) -> bool {
        let is_done = |at: usize| done & (1 << at) != 0;
        let required = |at: &usize| !is_done(*at) && self.steps[*at].0.is_required();
        let waiting: Vec<usize> = (0..self.steps.len()).filter(required).collect();
        if waiting.is_empty() {
            return true;
        }
        if !seen.insert((done, state.clone())) {
            return false;
        }
        let first_answer = waiting.iter().map(|&at| self.steps[at].0.res).min();
        let may_be_at = |time: u64| {
            let late = first_answer.is_some_and(|answer| answer < time);
            !late && state.grips.iter().all(|grip| grip.ceiling >= time)
        };
        for (position, grip) in state.grips.iter().enumerate() {
            if grip.floor < u64::MAX && may_be_at(grip.floor) {
                let mut dropped = state.clone();
                dropped.grips.remove(position);
                if self.runs(done, &dropped, seen) {
                    return true;
                }
            }
        }
        for (at, (op, process, ceiling)) in self.steps.iter().enumerate() {
            let own = |other: &usize| *other < at && self.steps[*other].1 == *process;
            if is_done(at) || !may_be_at(op.inv) || waiting.iter().any(own) {
                continue;
            }
            for next in state.after(self.model, op, *ceiling) {
                if self.runs(done | (1 << at), &next, seen) {
                    return true;
                }
            }
        }
        false
    }
}
