//! EDN, the notation in which Jepsen and its relatives write histories.
//!
//! ```text
//! {:index 0, :time 341187643, :type :invoke, :process 1, :f :acquire, :value nil}
//! {:index 1, :time 341900112, :type :ok, :process 1, :f :acquire, :value {:token 17}}
//! ```
//!
//! The notation is read here and not by a crate, because a history is to be read event by event,
//! with the line and the column of each mistake.

mod event;
mod form;
mod read;
mod scanner;
mod value;
mod write;

pub(super) use event::{Dialect, Fields};
pub(super) use form::Form;
pub(super) use read::stream;
pub(super) use scanner::{Fault, Scanner};
pub use write::{EdnStyle, EdnWriter, RefusedRelease};
