//! The just-in-time frontier: which orders of the calls are still possible.
//!
//! For: deciding any model, one lock at a time. Calls are taken in order of invocation; kept are
//! all configurations that they allow: a set of pending calls that have taken effect, and the state
//! that they led to. When a call returns, every configuration in which it has not taken effect is
//! expanded until it has; where none is left, the history is not linearizable, and what was taken
//! so far is its shortest such prefix. Memory is bounded by what is pending. Not for: a million
//! optional calls; see the budget.
//!
//! The algorithm is just-in-time linearization (Gavin Lowe, "Testing for linearizability", 2017)
//! with two reductions, both sound:
//! - An observation that is legal takes effect at once: a call that cannot change the state later
//!   either. Any order in which it comes later allows the same.
//! - A call that never returns is optional. Of configurations with equal required calls and equal
//!   state, one that has used up fewer optional calls can do all that the others can.
//!
//! Pending calls are indexed by their [precondition](crate::model::Precondition), of which a state
//! meets few: so hopeless calls are not tried.

mod antichain;
mod bits;
mod configuration;
mod hasher;
mod pending;
mod search;

pub use search::{Frontier, Stop};
