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
pub mod carried;
pub mod cli;
pub mod client;
pub mod client_registry;
pub mod clock;
mod conformance;
pub mod connection;
pub mod environment_error;
mod folder;
mod gateway;
mod hunt;
mod kernel_sockets;
pub mod locks;
pub mod orders;
pub mod output;
mod plan;
pub mod process;
mod progress;
pub mod recorder;
mod rerun;
mod run;
pub mod seed;
pub mod server;
pub mod trace;
mod usage_error;
mod worker;
mod workload;
