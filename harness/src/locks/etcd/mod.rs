//! Locks on etcd.
//!
//! For: the algorithms of etcd's own library, over the JSON gateway of its API. Not for: what a
//! member says of itself, which faults and their proofs ask.

mod api;
mod mutex;

pub use mutex::EtcdMutex;
