//! Clients of a lock that can be paused, killed and told what to do.

mod connection;
mod control;
mod gate;
mod holds;
mod job;
mod listener;
mod processes;
mod redirect;
mod scan;
mod sentinels;
mod session;
mod shards;
mod slot_map;
mod subscriptions;
mod task;
mod trail;
mod watchdog;
mod wire;

pub use connection::{CallError, Connection, Dialer};
pub use control::Roster;
pub use gate::{Gate, Killed};
pub use holds::Holds;
pub use job::Job;
pub use listener::Listener;
pub use processes::Processes;
pub use scan::SentinelScan;
pub use sentinels::{Finder, Found, Named};
pub use session::{CLIENT_KILLED, Reply, Session, SessionParts};
pub use shards::Shards;
pub use subscriptions::{Reach, Subscriptions, Wake};
pub use task::{ClientTask, Order, Pending};
pub use trail::{NoTrail, Recorded, Trail};
pub use wire::{Wire, WireError};
