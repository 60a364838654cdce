//! The locks under test, one file each.
//!
//! For: the algorithms, exactly as their authors state them, weaknesses included. Not for:
//! retries, which are the session's and recorded as operations of their own.

mod batch_renewal;
mod context;
mod etcd;
mod lock;
mod mutation;
mod no_lock;
mod plain_del;
mod provenance;
mod redisson;
mod redlock;
mod scripts;
mod setnx;
mod shared_state;
mod sql;
mod token;
mod token_fenced;
mod token_wait;
mod waiting;
mod zookeeper;

pub use batch_renewal::BatchRenewal;
pub use context::LockContext;
pub use etcd::{EtcdLock, EtcdMutex};
pub use lock::{Grant, Lock, LockRequest, Outcome, Released};
pub use no_lock::NoLock;
pub use plain_del::PlainDel;
pub use provenance::Provenance;
pub use redisson::{
    Redisson, RedissonFair, RedissonFenced, RedissonMulti, RedissonPermits, RedissonRed,
    RedissonRw, RedissonSemaphore, RedissonSpin, braced,
};
pub use redlock::Redlock;
pub use scripts::own_scripts;
pub use setnx::Setnx;
pub use shared_state::{ClientGroups, SharedState};
pub use sql::{
    MysqlGetLock, MysqlUniqueIndex, PostgresAdvisory, PostgresAdvisoryXact, PostgresRowLease,
    mark_of_connection, number_of_lock,
};
pub use token::{Token, delete_if_equal, set_if_absent};
pub use token_fenced::TokenFenced;
pub use token_wait::TokenWait;
pub use waiting::{WaitEnd, Waiting};
pub use zookeeper::ZookeeperMutex;
