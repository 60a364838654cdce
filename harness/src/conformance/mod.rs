//! `lockstorm adapter test`: does a program speak the adapter protocol, and mean what it says?
//!
//! For: the author of an adapter, before its first scenario: each check starts it again on real
//! servers. Not for: judging the lock; that is what scenarios are for.

mod check;
mod checks;
mod disturbances;
mod introduce;
mod test_bed;

pub use check::{Check, Finding};
pub use introduce::{IntroductionError, introduce, usual_servers};
pub use test_bed::TestBed;
