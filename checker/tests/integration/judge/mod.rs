//! Verdicts, property by property: a violating history, a passing one, near misses, and those that
//! cannot tell.
//!
//! Method: histories of a few lines whose answer can be worked out by hand. Leases are judged
//! without drift, unless a test is about it.

mod analysis;
mod availability;
mod blame;
mod dead_on_arrival;
mod fairness;
mod fencing;
mod guarded_resource;
mod lease_overrun;
mod leftover;
mod length;
mod liveness;
mod loss_notice;
mod lost_lock;
mod model;
mod mutual_exclusion;
mod ownership;
mod progress;
mod reentrancy;
mod sessions;
mod spurious_refusal;
mod stalls;
mod story;
mod threads;
mod trace;
mod two_modes;
mod vacuity;
