//! Pictures of a run: laid out once as a [`Drawing`](drawing::Drawing), then written as SVG for
//! the page or as PNG for slides.
//!
//! For: the timeline, latency, hand-off and comparison pictures. Not for: deciding what they
//! mean; every interval drawn comes from the checker or straight from the history.

mod axis;
mod drawing;
mod font;
mod handoff;
mod ink;
mod latency;
mod matrix;
mod png;
mod spacetime;
mod svg;
mod timeline;
mod title;

pub(crate) use drawing::Drawing;
pub(crate) use handoff::handoff;
pub(crate) use latency::{answer_words, latency};
pub(crate) use matrix::matrix;
pub(crate) use png::png;
pub(crate) use spacetime::spacetime;
pub(crate) use svg::{patterns, svg};
pub(crate) use timeline::{around, whole};
pub(crate) use title::titled;
