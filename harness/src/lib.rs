//! Starts real servers, drives locks and clients through a scenario, records what happens, and
//! hands the history to the checker and the reports.
//!
//! For: everything that touches processes, sockets and the clock. Not for: judging (the
//! checker's), breaking (the nemesis's) or drawing (the reports').
//!
//! ```text
//! scenario → plan → servers up → workload → final phase → history.jsonl → checker → reports
//! ```

pub mod adapter;
mod cells;
pub mod cli;
pub mod client;
pub mod clock;
mod conformance;
mod descriptors;
mod environment;
mod folder;
mod gateway;
mod guardian;
mod hashed;
mod heartbeat;
pub mod locks;
mod mapped;
mod network;
pub mod orders;
mod plan;
mod progress;
pub mod recorder;
mod rerun;
mod runner;
pub mod seed;
pub mod server;
mod shelf;
pub mod slot;
mod stream;
mod suite;
pub mod trace;
mod worker;
mod workload;
