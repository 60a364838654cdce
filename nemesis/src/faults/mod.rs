//! The faults, one file each, and the one table of them.

mod busy_script;
mod client_clock;
mod clock;
mod cut;
mod delay;
mod delete_key;
mod evict;
mod failover;
mod flush_all;
mod flush_scripts;
mod kill;
mod kill_client;
mod kill_connections;
mod kill_thread;
mod links;
mod lose;
mod message;
mod migrate_slot;
mod one_way;
mod partition;
mod pause;
mod pause_client;
mod pause_commands;
mod power_cut;
mod promote;
mod reorder;
mod restart;
mod sleep;
mod slow_fsync;
mod stall_watchdog;
mod stop;
mod table;
mod throttle;

pub use table::fault_list;
pub(crate) use table::{Among, among_of, ends_of, fault_of};
