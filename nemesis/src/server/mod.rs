//! Servers as the faults see them: what each is asked, and what only those of one system take.
//!
//! ```text
//! Fault ─▶ Server (answers, run, rank, clock, entries) ◀─ every system
//!     └──▶ Redis (any command) ──▶ Server               ◀─ Redis alone
//! ```

mod questions;
pub(crate) mod redis;

pub use questions::{Rank, Server};
pub use redis::Redis;
