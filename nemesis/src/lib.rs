//! Breaks things on purpose, proves that they broke, and mends them.
//!
//! For: faults as values (inject → observe → heal), schedules of faults, and the network between
//! the parts of a run. Not for: locks, of which it knows nothing, and starting servers, which the
//! deployment does.
//!
//! ```text
//! FaultSpec ─▶ Nemesis ─▶ Fault ─▶ Deployment (processes, clients), Network (the Fabric)
//!                 └─▶ NoteSink: requested, injected, observed (with its evidence), healed
//! ```

mod deployment;
mod error;
mod fabric;
mod network;

pub use deployment::{ClientState, Clients, Deployment};
pub use error::FaultError;
pub use fabric::Fabric;
pub use network::{CutGuard, Network};
