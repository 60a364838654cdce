//! What the servers themselves say of the locks while a run lasts, for who wants to know where a
//! lock got lost.
//!
//! For: notes in the history that stories quote. Not for: verdicts, which rest on what clients were
//! told. It speaks to servers past any fabric, so that a cut blinds nobody, writes nothing, and
//! leaves alone what has expired.
//!
//! ```text
//! probe     watch → view of each server → note `view`       at each step, each fault, and at times
//! monitor   MONITOR of each server → note `command`         and monitor.log in the node's folder
//! ```

mod command;
mod marks;
mod monitor;
mod view;
mod watch;

pub use marks::Marks;
pub use monitor::{Monitor, MonitorSettings};
pub use watch::{Herald, Watch};
