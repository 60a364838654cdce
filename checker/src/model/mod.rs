//! From the operations of a history to the calls that a model judges.
//!
//! For: which operations a model speaks of, lock by lock, and whether it can judge them. Not for:
//! the models and the search for an order of the calls, which are a crate of their own.

mod apart;
mod calls;
mod convert;
mod fit;
#[cfg(test)]
mod tests;

pub(crate) use apart::told_apart;
pub(crate) use calls::{Partition, partitions};
pub(crate) use fit::fits;
