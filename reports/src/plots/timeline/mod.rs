//! The timeline: who held the lock when, for how long the leases ran, and what was broken.
//!
//! ```text
//! F1 cut primary→replica ███████████████████████
//!                          2 holders, at once · 1.078 s
//!  a   ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓│        bar: hold, lighter ends: request in flight
//!      ───────────────────────┤      line: lease, up to its tick
//!  b            ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓
//! ```

mod canvas;
mod picture;
mod view;
mod window;

pub(crate) use picture::{around, whole, whole_story};
