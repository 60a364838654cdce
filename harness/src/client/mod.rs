//! Clients of a lock that can be paused, killed and told what to do.

mod any_lock;
mod giving_up;
mod holds;
mod job;
mod recording;
mod renewing;
mod session;
mod task;
mod watchdog;

pub use any_lock::AnyLock;
pub use holds::Holds;
pub use job::Job;
pub use session::{Reply, Session, SessionParts};
pub use task::{ClientTask, Heard, Order, Pending};
