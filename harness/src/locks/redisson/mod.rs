//! Redisson's locks: the same keys, channels, arguments and replies, in scripts of our own.
//!
//! Source: Redisson 4.7.0, and what 3.17.0 and 3.10.6 do otherwise. Each client is a thread of a
//! Redisson instance, which it has for itself or shares. Scripts are sent with their text where
//! Redisson sends a digest first.

mod fair;
mod instance;
mod multi;
mod names;
mod permits;
mod read_write;
mod reentrant;
mod renewal;
mod semaphore;
mod shared;
mod withdrawal;

pub use fair::RedissonFair;
pub use multi::{RedissonMulti, RedissonRed};
pub use names::{braced, suffixed};
pub use permits::RedissonPermits;
pub use read_write::RedissonRw;
pub use reentrant::{Redisson, RedissonFenced, RedissonSpin};
pub use semaphore::RedissonSemaphore;
