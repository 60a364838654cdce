//! Faults, the nemesis and the schedule against a deployment in memory.
//!
//! Goal: each fault proves its effect, and a fault that does nothing is found out. Method: the
//! fake keeps its books honestly, over real but idle processes; what it is told to leave undone it
//! claims to have done.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests: what cannot be set up has failed"
)]

mod clients;
mod cuts;
mod extras;
mod fake;
mod fake_network;
mod nodes;
mod notes;
mod packages;
mod schedule;
mod servers;
mod slow_links;
mod words;
