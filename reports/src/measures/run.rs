//! All figures of one run, taken once for the page and for the pictures.

use lockstorm_checker::Nanos;

use super::gaps::{Gap, gaps};
use super::latency::{Latency, Quantiles, by_answer};
use super::leases::Leases;
use super::rates::Rates;
use super::shares::Shares;
use super::windows::Windows;
use crate::trace::{Answer, Trace};

/// Measures of a run.
pub(crate) struct Measures<'a> {
    pub(crate) trace: &'a Trace,
    pub(crate) end: Nanos,
    pub(crate) windows: Windows,
    pub(crate) latencies: Vec<Latency>,
    /// Acquires by how they were answered.
    pub(crate) answers: Vec<(Answer, Quantiles)>,
    pub(crate) rates: Vec<Rates>,
    pub(crate) gaps: Vec<Gap<'a>>,
    pub(crate) shares: Option<Shares>,
    pub(crate) leases: Option<Leases>,
}

impl<'a> Measures<'a> {
    /// Measures a run.
    pub(crate) fn of(trace: &'a Trace) -> Self {
        let windows = Windows::of(trace.end);
        Self {
            trace,
            end: trace.end,
            latencies: Latency::all(trace, &windows),
            answers: by_answer(trace),
            rates: Rates::all(trace, &windows),
            gaps: gaps(trace),
            shares: Shares::of(trace),
            leases: Leases::of(trace),
            windows,
        }
    }
}
