//! The faults, one file each, and the one table of them.

mod cut;
mod delete_key;
mod kill;
mod kill_client;
mod pause;
mod pause_client;
mod promote;
mod restart;
mod table;

pub use table::fault_kinds;
pub(crate) use table::{Among, among_of, ends_of, fault_of};
