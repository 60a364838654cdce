//! The locks: one table, and a file for the options of each.

mod adapter;
mod etcd_lock;
mod etcd_mutex;
mod fair;
mod kind;
mod lock;
mod no_lock;
mod options;
mod permits;
mod plain_del;
mod redisson;
mod redlock;
mod semaphore;
mod setnx;
mod table;
mod token;
mod token_wait;
mod zookeeper_mutex;

pub use adapter::Adapter;
pub use etcd_lock::EtcdLock;
pub use etcd_mutex::EtcdMutex;
pub use fair::Fair;
pub use kind::{LockFeature, LockKind};
pub use lock::Lock;
pub use no_lock::NoLock;
pub use options::{LockOptions, OptionMistake};
pub use permits::Permits;
pub use plain_del::PlainDel;
pub use redisson::Redisson;
pub use redlock::Redlock;
pub use semaphore::Semaphore;
pub use setnx::Setnx;
pub use token::Token;
pub use token_wait::TokenWait;
pub use zookeeper_mutex::ZookeeperMutex;
