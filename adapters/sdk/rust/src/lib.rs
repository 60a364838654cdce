//! Everything of a Lockstorm adapter but the lock.
//!
//! It speaks the protocol of `docs/adapter-protocol.md` on standard input and output, and drives
//! the [`Lock`] that the program gives to [`serve`]. What a library returns as an error becomes the
//! answer that is safe: an error, which says that nobody knows whether the call had an effect.
//! [`Error`] has names for what is known better. A panic is not caught: it ends the process, as it
//! would end the program of another user of the library.

mod ask;
mod client;
mod error;
mod ledger;
mod lock;
mod moment;
mod opened;
mod outlet;
mod renewal;
mod serve;
mod session;
mod wire;

pub use ask::{Acquired, Ask, Grant, Mark, Mode, Released};
pub use client::{Client, Sentinels, Server};
pub use error::Error;
pub use lock::Lock;
pub use opened::{Ability, Opened};
pub use serve::{converse, locked_version, serve};
