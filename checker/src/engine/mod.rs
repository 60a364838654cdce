//! The algorithms: they know intervals and owners, and nothing of what a property is.

pub(crate) mod depth;
pub(crate) mod occupancy;
pub(crate) mod sweep;
