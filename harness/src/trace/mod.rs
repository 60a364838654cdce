//! Statements of the servers themselves while a run lasts: what each of them is, and, for who wants
//! to know where a lock got lost, what they know of the locks.
//!
//! For: notes in the history that stories quote. Not for: verdicts, which rest on what clients were
//! told. It speaks to servers past any fabric, so that a cut blinds nobody, writes nothing, and
//! leaves alone what has expired.
//!
//! ```text
//! probe     watch → view of each server → note `view`       at each step, each fault, and at times
//! roles     ROLE of each server  → note `role`, `by` of grants   in every run with replicas
//! leases    leases that each ended → note `expired`              where servers count them
//! replies   the network → note `command`                 at each grant, where there is no MONITOR
//! monitor   MONITOR of each server → note `command`         and monitor.log in the node's folder
//! ```

mod command;
mod leases;
mod marks;
mod monitor;
mod replies;
mod roles;
mod view;
mod watch;

pub use leases::LeaseWatch;
pub use marks::Marks;
pub use monitor::{Monitor, MonitorSettings};
pub use replies::Replies;
pub use roles::{RoleWatch, Roles};
pub use watch::{FaultNoteSink, Watch};
