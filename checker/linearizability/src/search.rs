//! The search by the frontier, for any of the models.

use crate::budget::{Budget, Exhausted};
use crate::call::{Call, CallId};
use crate::frontier::{Frontier, Stop};
use crate::model::Model;
use crate::reason::Reason;
use crate::specification::Specification;

/// The answer for one lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
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

/// Decides by the frontier.
pub fn search<'a>(
    specification: &Specification,
    calls: impl Iterator<Item = &'a Call>,
    budget: &Budget,
) -> Decision {
    counted(specification, calls, budget).0
}

/// Variant of [`search`] that also returns the number of steps it took.
pub fn counted<'a>(
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
