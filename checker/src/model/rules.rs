//! Definition of a model: a state, and the calls that it allows, with their results.

use std::fmt::Debug;
use std::hash::Hash;

use super::call::{Call, LeaseId};
use super::reason::Reason;

/// A sequential specification.
pub(crate) trait Model {
    /// All that the past matters.
    type State: Clone + Debug + Eq + Hash;

    /// Before the first call.
    fn initial(&self) -> Self::State;

    /// The state after a call that takes effect as it was observed.
    ///
    /// # Errors
    /// When the call cannot have been observed in this state.
    fn step(&self, state: &Self::State, call: &Call) -> Result<Self::State, Reason>;

    /// Returns the shelves on which a pending call waits: it is allowed only in states that open
    /// one of them.
    fn shelves(&self, call: &Call) -> [Shelf; 2];

    /// The shelves that a state opens, beside [`Shelf::Any`].
    fn open(&self, state: &Self::State, visit: &mut impl FnMut(Shelf));
}

/// A shelf of the index of pending calls: what must be so before a call can be allowed. It spares
/// a crowded lock the tries of all who wait for it in vain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Shelf {
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

impl Shelf {
    /// One shelf only.
    pub(crate) const fn only(self) -> [Self; 2] {
        [self, self]
    }
}

/// A refusal is legal exactly where the same call would not be allowed; it changes nothing.
pub(crate) fn denied<S: Clone>(
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
pub(crate) fn extended(held: LeaseId, more: LeaseId) -> LeaseId {
    held.max(more)
}
