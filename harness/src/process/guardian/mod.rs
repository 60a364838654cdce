//! A process beside the harness that starts the processes of clients and outlives it: however the
//! harness ends, the guardian ends them, and whatever they have started.
//!
//! For: programs of other people, which may start processes of their own, in process groups and
//! sessions of their own. Servers are started by the harness, whose end ends them; what they have
//! started is found by the leash that all of them hold, and ended too.
//!
//! ```text
//! harness → lines of JSON → lockstorm guard → a client's process → whatever that starts
//! ```
//!
//! It knows that the harness has ended when its standard input does. The processes of clients are
//! its children, and those that lose their parent become its children too, so that nothing gets
//! away from it.

mod order;
mod serve;
mod ward;

pub use serve::{Charge, serve};
pub use ward::{Ward, stand_by};
