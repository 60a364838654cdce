//! The mistakes of known-bad locks: where each is made.
//!
//! For: one lock, correct but for one line. A mistake in a script is a row of a table, and the line
//! is changed when the lock is made; one in the code is asked for by name at the one place where it
//! is made. Not for: locks that are wrong as their authors state them, such as `setnx`.

mod line;
#[expect(clippy::module_inception, reason = "the noun of the folder")]
mod mutation;

pub use mutation::{Mutation, script_of};
