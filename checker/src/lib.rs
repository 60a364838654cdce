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

pub mod history;
pub mod names;
pub mod verdict;

pub use history::{Event, Nanos};
pub use verdict::{Analysis, Property, Verdict};
