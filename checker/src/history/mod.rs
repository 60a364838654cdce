//! The vocabulary that every part of Lockstorm speaks: events, their times, owners and values.

mod document;
mod event;
mod header;
pub mod jsonl;
mod note;
mod order;

pub use document::{History, TornLine};
pub use event::{Event, Function, Kind, Mode, Name, Nanos, Process, Value};
pub use header::{FORMAT, Header, VERSION};
pub use jsonl::{ReadError, read_jsonl, write_event, write_header};
pub use note::{FaultNote, FaultPhase, PhaseNote};
