//! Assertions about a reader that every target makes.

mod survive;

pub use survive::{survive, survive_strictly};
