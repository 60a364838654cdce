//! The locks under test, one file each.
//!
//! For: the algorithms, exactly as their authors state them, weaknesses included. Not for:
//! retries, which are the session's and recorded as operations of their own.

mod any;
mod lock;
mod primary;
mod redlock;
mod setnx;
mod token;

pub use any::AnyLock;
pub use lock::{Grant, Lock, LockContext, Outcome};
pub use redlock::Redlock;
pub use setnx::Setnx;
pub use token::{Token, delete_if_equal, set_if_absent};
