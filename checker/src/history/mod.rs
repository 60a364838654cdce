//! The vocabulary that every part of Lockstorm speaks: events, their times, owners and values.

mod event;
mod header;
mod note;

pub use event::{Event, Function, Kind, Mode, Name, Nanos, Process, Value};
pub use header::{FORMAT, Header, VERSION};
pub use note::{FaultNote, FaultPhase, PhaseNote};
