//! A small space-time diagram of one finding: a line for each actor that is involved, time from top
//! to bottom, messages as arrows.
//!
//! For: reading the order of a story off a picture. Not for: lengths of time; rows are events in
//! their order, each with its instant, and the timeline has the true scale.

mod cast;
mod paper;
mod picture;
mod script;

pub(crate) use picture::spacetime;
