//! The locks under test, one file each.
//!
//! For: the algorithms, exactly as their authors state them, weaknesses included. Not for:
//! retries, which are the session's and recorded as operations of their own.

mod lock;
mod mutation;
mod no_lock;
mod plain_del;
mod redisson;
mod redlock;
mod scripts;
mod setnx;
mod token;
mod token_fenced;
mod token_wait;

pub use lock::{Grant, Lock, LockContext, LockRequest, Loss, Outcome, Released};
pub use no_lock::NoLock;
pub use plain_del::PlainDel;
pub use redisson::{
    Instances, Redisson, RedissonFair, RedissonFenced, RedissonMulti, RedissonPermits, RedissonRed,
    RedissonRw, RedissonSemaphore, RedissonSpin, SharedInstance, braced,
};
pub use redlock::Redlock;
pub use scripts::own_scripts;
pub use setnx::Setnx;
pub use token::{Token, delete_if_equal, set_if_absent};
pub use token_fenced::TokenFenced;
pub use token_wait::TokenWait;
