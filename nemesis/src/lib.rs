//! Breaks things on purpose, proves that they broke, and heals them.
//!
//! For: faults as values (inject → observe → heal), schedules of faults, and the network between
//! the parts of a run. Not for: locks, of which it knows nothing, and starting servers, which the
//! deployment does.
//!
//! ```text
//! FaultSpec ─▶ Nemesis ─▶ Fault ─▶ Deployment (processes, clients), Server (its answers), Network
//!                 └─▶ NoteSink: requested, injected, observed (with its evidence), healed
//! ```

mod aim;
mod deployment;
mod error;
mod fabric;
mod fault;
mod faults;
mod kernel;
mod link;
mod machines;
pub mod messages;
mod mutex;
mod nemesis;
mod network;
mod plan;
mod probe;
mod process;
pub mod resp;
mod schedule;
mod server;
mod sides;

pub use deployment::{CONNECTION_NAME, ClientState, Clients, Deployment};
pub use error::FaultError;
pub use fabric::{Fabric, Guest};
pub use fault::{Ends, Evidence, Fault, FaultInfo, Sighting};
pub use faults::fault_list;
pub use kernel::{Kernel, Namespace, NamespaceError};
pub use machines::{Clock, Machines, Readings};
pub use nemesis::{FaultId, Nemesis, NoteSink};
pub use network::{LinkGuard, Loss, Network, Packets, Reordering, Slowness};
pub use plan::{Plan, Planned};
pub use process::{Members, ProcessState, Processes, process_state};
pub use schedule::Schedule;
pub use server::{Rank, Redis, Server};
