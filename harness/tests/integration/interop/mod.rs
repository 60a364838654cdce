//! Our Redisson locks and Redisson's own, on the same server and for the same names.
//!
//! A Java program (folder `java`) does with the real Redisson what these tests tell it, over JSON
//! lines. Old versions are tested as well, with the kinds of lock that they have. Needs a JDK,
//! Maven and, the first time, the registry it loads Redisson from; where one is missing the tests
//! skip and say so.

mod client;
mod contention;
mod ear;
mod footprint;
mod keys;
mod kind;
pub mod kit;
mod merge;
mod peer;
mod sight;
mod steps;
mod test_bed;
mod waking;
