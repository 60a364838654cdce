//! Stands between a process and its C library: the wall clock and the disk of one process, without
//! root and without a word to any other.
//!
//! For: the faults `clock`, `slow-fsync` and `power-cut`. The harness carries the library inside
//! itself, has the dynamic loader put it before the C library (`LD_PRELOAD`), and steers it by a
//! page of shared memory (`layout.rs`). Not for: monotonic clocks, which drive event loops and no
//! expiry; and processes that are linked statically or run setuid, which load no library of ours.
//!
//! Nothing here allocates, locks or panics: the functions run inside a stranger, in any thread,
//! before its `main`, and after its `fork`.

mod clock;
mod control;
mod disk;
mod layout;
mod system;
