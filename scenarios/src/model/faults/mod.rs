//! The faults that a scenario can name, as values.
//!
//! For: their words and parameters, one struct each, in the file of what they break, and the one
//! table of them. Not for: what they do, which the nemesis knows.

mod client;
mod clock;
mod data;
mod disk;
mod failover;
mod kind;
mod link;
mod message;
mod node_word;
mod parameters;
mod server;
mod shard;
mod spec;

pub use client::*;
pub use clock::*;
pub use data::*;
pub use disk::*;
pub use failover::*;
pub use kind::{Absence, FaultKind};
pub use link::*;
pub use message::*;
pub use node_word::{NodeTarget, NodeWord};
pub use parameters::{ExternalUse, FaultParameters};
pub use server::*;
pub use shard::*;
pub use spec::{FaultSpec, Named, Role};
