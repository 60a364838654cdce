//! The algorithms on intervals: they know owners and times, and nothing of what a property is.

pub(crate) mod alone;
pub(crate) mod depth;
pub(crate) mod occupancy;
pub(crate) mod sweep;
