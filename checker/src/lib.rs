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

mod analysis;
mod case;
mod clock_error;
mod cut_short;
mod engine;
pub mod history;
mod holds;
pub mod inert;
mod model;
mod operations;
mod options;
mod parallel;
mod property;
mod property_name;
mod story;
mod text;
pub mod verdict;

pub use analysis::{check, check_digest};
pub use clock_error::ClockError;
pub use cut_short::{END, cut_short};
#[doc(hidden)]
pub use engine::alone::frontier_alone;
pub use history::{Event, Nanos};
pub use holds::Hold;
pub use holds::holds;
pub use lockstorm_linearizability::{ModelName, UnknownModel};
pub use operations::Interval;
pub use operations::{
    Access, Action, Completion, Detail, DetailId, KeyId, OpId, Operation, Outcome, OwnerId, ValueId,
};
pub use operations::{
    Asides, CommandAside, Digest, DigestBuilder, ExpiredAside, FailureAside, FaultEvent,
    FinalPhase, LostNote, QueuedNote, RoleAside, RouteAside, StallAside, ViewAside,
};
pub use operations::{Drift, Lease};
pub use options::Options;
pub use verdict::{Analysis, Property, Verdict};
