//! What every target asserts of a reader.

mod survive;

pub use survive::{survive, survive_strictly};
