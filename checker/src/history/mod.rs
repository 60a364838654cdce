//! The vocabulary that every part of Lockstorm speaks: events, their times, owners and values.

mod atlasdb;
mod date;
mod document;
mod edn;
mod error;
mod event;
mod fault;
mod fault_words;
mod format;
mod giver;
mod guard;
mod header;
mod intake;
mod jepsen_log;
pub mod jsonl;
pub mod names;
mod near;
mod note;
mod order;
mod processes;
mod read;
mod relay;
mod sink;
mod stamp;
mod survey;

pub use document::{History, TornLine};
pub use edn::{EdnStyle, EdnWriter, RefusedRelease};
pub use error::ReadError;
pub use event::{Event, Function, Kind, Mode, Name, Nanos, Ownership, Process, Until, Value};
pub(crate) use fault::WrittenTarget;
pub use fault::{DataLoss, FaultClass, FaultNote, FaultPhase, FaultTarget};
pub use format::{Format, UnknownFormat};
pub use giver::{Giver, Givers};
pub use guard::Unread;
pub use header::{FORMAT, Header, VERSION};
pub use jsonl::{read_jsonl, write_event, write_header};
pub use note::{
    CommandNote, ExpiredNote, FailureKind, FailureNote, NodeView, PhaseNote, RoleNote, RouteNote,
    StallNote, ViewNote,
};
pub use read::{ReadOptions, read, read_strictly};
pub use sink::{EventSink, Reading};
pub use stamp::{TimeUnit, UnknownTimeUnit};
pub use survey::Doubt;
