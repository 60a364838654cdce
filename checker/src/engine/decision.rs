//! Decides whether the calls of one lock are linearizable.

use super::budget::{Budget, Exhausted};
use super::exact::{self, Proof, Rules};
use super::frontier::{Frontier, Stop};
use super::shrink::minimal;
use crate::model::{Call, CallId, Model, Reason, Specification};
use crate::operations::OpId;

/// The name of the exact sweep.
const SWEEP: &str = "core-sweep";

/// The answer for one lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// There is an order in which all calls are allowed.
    Legal,
    /// There is none.
    Illegal {
        /// The call that cannot have returned.
        due: CallId,
        /// So many calls, in order of invocation, are enough to see it.
        taken: u32,
        /// Reasons why it cannot, in some of the orders that the others allow.
        reasons: Vec<Reason>,
    },
    /// The budget did not suffice.
    Unknown {
        /// Bound that was hit.
        exhausted: Exhausted,
        /// Number of calls that were decided, all of them possible.
        decided: u64,
    },
}

/// A decision, and how it was found.
pub(crate) struct Decided {
    pub(crate) decision: Decision,
    /// The name of the engine.
    pub(crate) engine: &'static str,
    /// A minimal set of operations that cannot have happened, where the engine shows one.
    pub(crate) shown: Option<Vec<OpId>>,
}

/// Decides by the fastest engine that is exact for these calls.
pub(crate) fn decide(specification: &Specification, calls: &[Call], budget: &Budget) -> Decided {
    let by_sweep = |decision, shown| Decided {
        decision,
        engine: SWEEP,
        shown,
    };
    let proof = Rules::of(specification).and_then(|rules| exact::decide(rules, calls));
    let illegal = match proof {
        Some(Proof::Legal) => return by_sweep(Decision::Legal, None),
        Some(Proof::Illegal { due, shown }) => {
            let illegal = illegal(calls, due);
            let operations = minimal(specification, calls, due, &shown);
            if operations.is_some() {
                return by_sweep(illegal, operations);
            }
            Some(illegal)
        }
        None => None,
    };
    // The frontier tells what is enough to see it.
    let decision = search(specification, calls.iter(), budget);
    match (&decision, illegal) {
        (Decision::Unknown { .. }, Some(illegal)) => by_sweep(illegal, None),
        _ => Decided {
            decision,
            engine: "frontier",
            shown: None,
        },
    }
}

fn illegal(calls: &[Call], due: CallId) -> Decision {
    let returned = calls[due.0 as usize].returned;
    let taken = calls.partition_point(|call| call.invoked <= returned);
    Decision::Illegal {
        due,
        taken: taken as u32,
        reasons: Vec::new(),
    }
}

/// Decides by the frontier.
pub(crate) fn search<'a>(
    specification: &Specification,
    calls: impl Iterator<Item = &'a Call>,
    budget: &Budget,
) -> Decision {
    counted(specification, calls, budget).0
}

/// Variant of [`search`] that also returns the number of steps it took.
pub(crate) fn counted<'a>(
    specification: &Specification,
    calls: impl Iterator<Item = &'a Call>,
    budget: &Budget,
) -> (Decision, u64) {
    match specification {
        Specification::Mutex(model) => run(model, calls, budget),
        Specification::Exclusive(model) => run(model, calls, budget),
        Specification::Semaphore(model) => run(model, calls, budget),
        Specification::ReadWrite(model) => run(model, calls, budget),
        Specification::Register(model) => run(model, calls, budget),
        Specification::Append(model) => run(model, calls, budget),
    }
}

fn run<'a, M: Model>(
    model: &M,
    mut calls: impl Iterator<Item = &'a Call>,
    budget: &Budget,
) -> (Decision, u64) {
    let mut frontier = Frontier::new(model, *budget);
    let taken = calls.try_for_each(|call| frontier.take(call));
    let decision = match taken.and_then(|()| frontier.finish()) {
        Ok(()) => Decision::Legal,
        Err(Stop::Impossible {
            due,
            taken,
            reasons,
        }) => Decision::Illegal {
            due,
            taken,
            reasons,
        },
        Err(Stop::Exhausted(exhausted)) => Decision::Unknown {
            exhausted,
            decided: frontier.decided(),
        },
    };
    (decision, frontier.steps())
}
