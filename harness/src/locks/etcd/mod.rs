//! Locks on etcd.
//!
//! For: the algorithms of etcd's own library, over the JSON gateway of its API. Not for: what a
//! member says of itself, which faults and their proofs ask.

mod api;
mod lock_request;
mod mutex;

pub use lock_request::EtcdLock;
pub use mutex::EtcdMutex;
