//! The hunt: a search for the fewest faults that break a lock.
//!
//! For: plans of faults at single messages, trying them on real servers, and shrinking what was
//! found to a script that repeats it. Not for: judging a run, which the checker does, and carrying
//! it out, which the room `run` does: every trial is a scenario like any other.
//!
//! ```text
//! survey ─▶ points ─▶ plans (1, 2, … faults) ─▶ script ─▶ run ─▶ trial ─▶ shrink ─▶ found/*.toml
//! ```

mod account;
mod course;
mod fault;
mod findings;
mod placements;
mod plan;
mod point;
mod promises;
mod reproduce;
mod script;
mod search;
mod shrink;
mod store;
mod trial;

pub use account::account;
pub use fault::Abilities;
pub use reproduce::{alike, reproduce, shorten};
pub use search::{Limits, Quarry, folder_of, search};
pub use shrink::Shrunk;
pub use store::Store;
