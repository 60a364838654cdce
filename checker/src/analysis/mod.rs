//! Analysis: a history judged by every property, with a witness for each violation.

mod basis;
mod blame;
mod check;
mod derived;
mod off_clocks;
mod witness;

pub use check::{check, check_digest};
