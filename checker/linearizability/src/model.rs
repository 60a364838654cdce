//! Definition of a model: a state, and the calls that it allows, with their results.

use std::fmt::Debug;
use std::hash::Hash;

use crate::call::{Call, LeaseId};
use crate::reason::Reason;

/// A sequential specification.
pub trait Model {
    /// All that the past matters.
    type State: Clone + Debug + Eq + Hash;

    /// Before the first call.
    fn initial(&self) -> Self::State;

    /// The state after a call that takes effect as it was observed.
    ///
    /// # Errors
    /// When the call cannot have been observed in this state.
    fn step(&self, state: &Self::State, call: &Call) -> Result<Self::State, Reason>;

    /// Returns the preconditions of a pending call: it is allowed only in states that meet one of
    /// them.
    fn preconditions(&self, call: &Call) -> [Precondition; 2];

    /// Visits the preconditions that a state meets, beside [`Precondition::Any`].
    fn visit_met(&self, state: &Self::State, visit: &mut impl FnMut(Precondition));
}

/// A condition on the state without which a call is not allowed. Pending calls are indexed by it:
/// so a crowded lock is spared the tries of all who wait for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Precondition {
    /// Nothing.
    Any,
    /// The lock is free.
    Free,
    /// Somebody holds the lock.
    Held,
    /// This owner holds the lock.
    Owner(u32),
    /// The register has this value.
    Value(u32),
}

impl Precondition {
    /// This precondition, and no other.
    pub const fn only(self) -> [Self; 2] {
        [self, self]
    }
}

/// A refusal is legal exactly where the same call would not be allowed; it changes nothing.
pub fn denied<S: Clone>(
    state: &S,
    allowed: &Result<S, Reason>,
    why_not: Reason,
) -> Result<S, Reason> {
    match allowed {
        Ok(_) => Err(why_not),
        Err(_) => Ok(state.clone()),
    }
}

/// The lease of a hold that is extended: the one with the later ceiling.
pub fn extended(held: LeaseId, more: LeaseId) -> LeaseId {
    held.max(more)
}
