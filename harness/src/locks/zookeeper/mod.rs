//! Locks on members of ZooKeeper.

mod line;
mod mutex;

pub use mutex::ZookeeperMutex;
