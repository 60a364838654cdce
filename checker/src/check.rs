//! A whole history in, an analysis out.

use crate::digest::Digest;
use crate::examine::{Exhibit, examine};
use crate::history::History;
use crate::options::Options;
use crate::sum::{Known, Sum};
use crate::verdict::Analysis;

/// Judges a history.
pub fn check(history: &History, options: &Options) -> Analysis {
    check_digest(&Digest::of(history), options)
}

/// Judges a history of which only the digest was kept.
pub fn check_digest(digest: &Digest, options: &Options) -> Analysis {
    let mut sum = Sum::default();
    let exhibit = Exhibit::new(digest, options, &[]);
    sum.add(examine(&exhibit, &Known::new()));
    sum.conclude(options)
}
