//! Tests of the nemesis on real processes and sockets, one folder for each matter.

mod fabric;
mod faults;
mod kernel;
