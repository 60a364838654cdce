//! `lockstorm worker`: one of our own locks in a process of its own, told what to do by the adapter
//! protocol, as any adapter is.
//!
//! For: clients that can really be stopped and killed. Not for: recording, or anything else that
//! has to outlive it: those are the harness's.

mod serve;
mod subject;

pub use serve::{command, serve};
pub use subject::lock_stream;
