//! The history of a run, recorded where it happens: what is acknowledged is in the file.

mod event_sink;
mod hashed;
mod heartbeat;
mod mapped;
mod processes;

pub use event_sink::{EventSink, RecordError, Recorder};
pub use hashed::Hashed;
pub use heartbeat::Heartbeat;
pub use processes::{MAIN, Processes};
