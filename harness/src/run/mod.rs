//! Runs, one or many: servers up, workload, final phase, history judged, record stored.
//!
//! For: the order of things from a plan to its records. Not for: what is typed and printed (the
//! command line's), nor what clients do (the workload's).

mod cells;
mod environment;
mod network;
mod runner;
mod suite;
mod time_limit;
mod tries;

pub use cells::Pace;
pub use network::{NetworkChoice, Networks};
pub use runner::{Overheard, RunError, RunSettings, run};
pub use suite::{Finished, execute, prepare};
