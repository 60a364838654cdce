//! Models: what a lock or a register would do if everybody took turns.
//!
//! For: the sequential specifications that a history can be judged by, one file each, and the calls
//! that they speak of. Not for: searching for an order of the calls, which the engines do.

mod apart;
mod append;
mod call;
mod calls;
mod exclusive;
mod fit;
mod mutex;
mod read_write;
mod reason;
mod register;
mod rules;
mod semaphore;
mod specification;
mod values;

pub(crate) use apart::told_apart;
pub(crate) use call::{Call, CallId, Datum, LeaseId, Reply, Request};
pub(crate) use calls::{Partition, partitions};
pub(crate) use fit::fits;
pub(crate) use reason::Reason;
#[cfg(test)]
pub(crate) use register::Register;
pub(crate) use rules::{Model, Shelf};
pub(crate) use specification::Specification;
pub(crate) use values::Values;
