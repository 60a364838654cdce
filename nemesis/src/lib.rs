//! Breaks things on purpose, proves that they broke, and mends them.
//!
//! For: faults as values (inject → observe the effect → heal), schedules of faults, and the
//! network between the parts of a run. Not for: locks, of which it knows nothing, and starting
//! servers, which the deployment does.

mod deployment;
mod error;
mod network;

pub use deployment::{ClientState, Clients, Deployment};
pub use error::FaultError;
pub use network::{CutGuard, Network};
