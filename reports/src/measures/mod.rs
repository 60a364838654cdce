//! Figures that are taken from a history: what the pictures draw and the tables beside them say.
//!
//! For: latencies, rates, hand-offs, shares of clients, what is left of leases, wrong clocks. Not
//! for: judging; where a figure looks like an accusation, it is computed from the checker's own
//! intervals.

mod clocks;
mod gaps;
mod latency;
mod leases;
mod order;
mod rates;
mod run;
mod shares;
mod windows;

pub(crate) use clocks::{Clock, Stretch};
pub(crate) use gaps::Gap;
pub(crate) use latency::{CALLS_FOR_QUANTILES, Latency, Quantiles};
pub(crate) use leases::Leases;
pub(crate) use order::Ordered;
pub(crate) use rates::Rates;
pub(crate) use run::Measures;
pub(crate) use shares::Shares;
pub(crate) use windows::Windows;
