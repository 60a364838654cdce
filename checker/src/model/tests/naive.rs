//! A search through every order: slow, and too simple to be wrong.

use std::collections::HashSet;

use lockstorm_linearizability::{Call, Model, Specification};

/// Tells whether there is an order in which all calls are allowed, by trying every order.
fn linearizable<M: Model>(model: &M, calls: &[Call]) -> bool {
    let required: u64 = (0..)
        .zip(calls)
        .filter(|(_, call)| call.is_required())
        .map(|(at, _)| 1 << at)
        .sum();
    let mut seen = HashSet::new();
    let mut open = vec![(0_u64, model.initial())];
    while let Some((done, state)) = open.pop() {
        if done & required == required {
            return true;
        }
        if !seen.insert((done, state.clone())) {
            continue;
        }
        for (at, call) in calls.iter().enumerate() {
            let has = |other: usize| done & (1 << other) != 0;
            let waits =
                |(other, before): (usize, &Call)| !has(other) && before.returned < call.invoked;
            let after = call.after.is_none_or(|before| has(before.0 as usize));
            if has(at) || !after || calls.iter().enumerate().any(waits) {
                continue;
            }
            if let Ok(next) = model.step(&state, call) {
                open.push((done | 1 << at, next));
            }
        }
    }
    false
}

pub(super) fn searched(specification: &Specification, calls: &[Call]) -> bool {
    match specification {
        Specification::Mutex(model) => linearizable(model, calls),
        Specification::Exclusive(model) => linearizable(model, calls),
        Specification::Semaphore(model) => linearizable(model, calls),
        Specification::ReadWrite(model) => linearizable(model, calls),
        Specification::Register(model) => linearizable(model, calls),
        Specification::Append(model) => linearizable(model, calls),
    }
}
