//! Pictures of a run: laid out once as a [`Drawing`](drawing::Drawing), then written as SVG or as
//! PNG.
//!
//! For: the timeline, latency, rate, hand-off, clock and comparison pictures. Not for: deciding
//! what they mean; every interval drawn comes from the checker or straight from the history.

mod axis;
mod clocks;
mod decades;
mod drawing;
mod fates;
mod faults;
mod font;
mod frame;
mod handoff;
mod handoff_over_time;
mod ink;
mod latency;
mod matrix;
mod percentiles;
mod png;
mod quantiles;
mod rate;
mod sign;
mod spacetime;
mod svg;
mod timeline;
mod title;

pub(crate) use clocks::clocks;
pub(crate) use drawing::Drawing;
pub(crate) use fates::fates;
pub(crate) use handoff::handoff;
pub(crate) use handoff_over_time::handoff_over_time;
pub(crate) use ink::Ink;
pub(crate) use latency::latency;
pub(crate) use matrix::matrix;
pub(crate) use percentiles::percentiles;
pub(crate) use png::png;
pub(crate) use quantiles::quantiles;
pub(crate) use rate::{per_second, rate};
pub(crate) use spacetime::spacetime;
pub(crate) use svg::{patterns, svg, svg_file};
pub(crate) use timeline::{around, whole, whole_story};
pub(crate) use title::{headed, titled};
