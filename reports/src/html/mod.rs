//! Renders a run or a suite as one self-contained HTML page, a section a file.
//!
//! For: a page that opens from disk, without network, without JavaScript if need be, in a
//! browser or on paper. Not for: working out what it says, which `grid`, `finding`, `story` and
//! the plots do.
//!
//! maud escapes every text; [`page`] is the only place that writes markup as it stands, and
//! writes there nothing but the style and the script of this crate. The history that the timeline
//! embeds is base64.

mod assessment;
mod changed;
mod clocks;
mod coverage;
mod environment;
mod evidence;
mod fates;
mod faults;
mod findings;
mod handoff;
mod hunt;
mod index;
mod latency;
mod link;
mod matrix;
mod operations;
mod page;
mod plot;
mod runs;
mod script;
mod table;
mod timeline;
mod topology;
mod verdict;

pub(crate) use hunt::hunt_page;
pub(crate) use index::{INDEX_TITLE, index_page};
pub(crate) use page::{RunSources, run_page, suite_page};
