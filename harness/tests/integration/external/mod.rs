//! Servers that someone else runs, entered by user and password, over TLS, and shared with others.
//!
//! Goal: a run does there what its scenario says, and nothing else. Method: real servers that the
//! test starts with an access list, seen from outside by an operator while the program runs.

mod certificates;
mod gate;
mod leftovers;
mod libraries;
mod refusals;
mod runs;
mod server;
mod test_bed;
mod tls;
