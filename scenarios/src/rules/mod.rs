//! Rules on what the values of a scenario must mean together.
//!
//! For: everything that a schema cannot say, such as a step that names a node which the topology
//! does not have. A rule that needs a part which could not be read says nothing.

mod answers;
mod external;
mod fault;
mod findings;
mod guarded_resource;
mod known_servers;
mod links;
mod lock;
mod names;
mod processes;
mod scenario;
mod script;
mod situation;
mod storm;
mod threads;
mod topology;

pub use names::NAME_BYTES_MAX;
pub(crate) use scenario::{COUNT_MAX, judge, judge_cell};
