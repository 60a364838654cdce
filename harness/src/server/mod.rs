//! Real servers: found, configured, started, proved ready, and gone after any exit.

mod access;
mod address;
mod binary;
mod child;
mod cluster;
mod deployment;
mod error;
mod external;
mod family;
mod independent;
mod machines;
mod node;
mod probe;
mod proof;
mod replicated;
mod role;
mod route;
mod secrets;
mod sentinel;
mod shape;
mod shim;
mod single;
mod wires;

pub use address::{AddressBlock, DEFAULT_PORT};
pub use binary::{Program, find_program};
pub use child::{spawn, spawn_here};
pub use deployment::{ServerSettings, Servers};
pub use error::EnvironmentError;
pub use node::Node;
pub use probe::info_field;
pub use role::Role;
pub use route::{Guide, Route, Sentinels};
pub use secrets::{note_secrets, scrub};
pub use shim::{Page, Shim};
pub use wires::Wiring;
