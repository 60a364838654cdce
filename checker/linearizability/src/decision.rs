//! The decision by the fastest engine that is exact.

use crate::budget::Budget;
use crate::call::{Call, CallId, OpId};
use crate::exact::{self, Proof, Rules};
use crate::search::{Decision, search};
use crate::shrink::minimal;
use crate::specification::Specification;

/// The name of the exact sweep.
const SWEEP: &str = "core-sweep";

/// A decision, and how it was found.
pub struct Decided {
    /// The answer.
    pub decision: Decision,
    /// The name of the engine.
    pub engine: &'static str,
    /// A minimal set of operations that cannot have happened, where the engine shows one.
    pub shown: Option<Vec<OpId>>,
}

/// Decides by the fastest engine that is exact for these calls.
pub fn decide(specification: &Specification, calls: &[Call], budget: &Budget) -> Decided {
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
