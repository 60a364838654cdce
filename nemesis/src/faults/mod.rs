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

pub(crate) use cut::{KIND as CUT, link_name};
pub use table::fault_kinds;
pub(crate) use table::{fault_of, kind_of, target_of};
