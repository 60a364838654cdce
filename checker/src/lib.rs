//! Decides what a recorded history of a distributed lock proves.
//!
//! For: reading histories, turning operations into holds and leases, judging the properties of a
//! lock, and explaining each violation as a witness with a story. Not for: driving locks, files,
//! clocks or networks. Bytes and options come in, an [`Analysis`] goes out, and equal input gives
//! an equal answer.
//!
//! ```text
//! bytes → history (events) → operations → holds → property → verdict, witness, story
//! ```

mod availability;
mod basis;
mod blame;
mod case;
mod check;
mod clock_error;
mod coverage;
mod cut_short;
mod digest;
mod engine;
mod evidence;
mod explain;
mod faults;
mod grants;
mod groups;
pub mod history;
mod hold;
mod holds;
pub mod inert;
mod interval;
mod lease;
mod ledger;
mod losses;
mod model;
pub mod names;
mod off_clocks;
mod operation;
mod options;
mod parallel;
mod property;
mod replay;
mod resource;
mod story;
mod text;
mod vacuity;
pub mod verdict;
mod windows;
mod witness;

pub use check::{check, check_digest};
pub use clock_error::ClockError;
pub use cut_short::{END, cut_short};
pub use digest::{
    Asides, CommandAside, Digest, DigestBuilder, FailureAside, FaultEvent, FinalPhase, LostNote,
    QueuedNote, RoleAside, RouteAside, StallAside, ViewAside,
};
#[doc(hidden)]
pub use engine::alone::frontier_alone;
pub use history::{Event, Nanos};
pub use hold::Hold;
pub use holds::holds;
pub use interval::Interval;
pub use lease::{Drift, Lease};
pub use model::{ModelName, UnknownModel};
pub use operation::{
    Access, Action, Completion, Detail, DetailId, KeyId, OpId, Operation, Outcome, OwnerId, ValueId,
};
pub use options::Options;
pub use verdict::{Analysis, Property, Verdict};
