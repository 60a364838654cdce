//! The algorithms: they know intervals, owners and calls, and nothing of what a property is.

pub(crate) mod alone;
pub(crate) mod budget;
pub(crate) mod decision;
pub(crate) mod depth;
mod exact;
mod frontier;
pub(crate) mod occupancy;
pub(crate) mod shrink;
pub(crate) mod sweep;
