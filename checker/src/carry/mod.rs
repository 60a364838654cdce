//! What of a part of a history may still matter to what follows.
//!
//! For: judging a history of any length in the memory that its unfinished business takes. Not for:
//! judging; what is carried on is judged once with the part it comes from, and once more alone, so
//! that it counts once.
//!
//! Carried on is, of each lock:
//! - what is under way, and all that took effect since the first of that began: holds that are
//!   open, and operations without an answer;
//! - what may take effect later: acquires, renewals, releases and writes of unknown outcome;
//! - holds that may go on though their client is gone, until their lease has run out;
//! - what the state of the lock and of its resource is known by: the last try, the largest fencing
//!   token, the last write, every append;
//! - the tries of an outage that goes on, the places left in a queue, and the final phase.
//!
//! A client that was not heard of for [`PATIENCE`], and whose lease ran out so long ago, keeps its
//! own operations, and not those of all others since.

mod cycles;
mod horizon;
mod marks;
mod outage;
mod reasons;

pub(crate) use reasons::{Carried, carried};

use crate::history::Nanos;

/// How long a silent client is waited for: longer than lock libraries wait for a lock, and than a
/// paused client is paused in most tests.
pub(crate) const PATIENCE: Nanos = Nanos::from_millis(60_000);
