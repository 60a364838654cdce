//! The history that the timeline of a page draws, in few bytes: columns of small numbers, gzip and
//! base64, with the names and sentences that belong to them in front.
//!
//! For: everything that the script of the page shows of operations, holds, faults, servers and
//! violations. Not for: what a reader without JavaScript needs, which stands in the page itself;
//! nor for judging, the intervals are the checker's own.
//!
//! ```text
//! base64( gzip( length, scene as JSON | length, column | length, column | ... ) )
//!
//! events      in order of their index: gap in the index, time since the event before, process
//! operations  in order of their invocation: what and how answered, lane, wait, token
//! holds       in order of their acquire: what differs from what the operations let expect
//! bins        only where the history is too large: how busy each lane was
//! ```
//!
//! A column holds one kind of number. Neighbours are alike there, which is what gzip lives on: a
//! million operations take three to four megabytes.

mod bins;
mod column;
mod events;
mod extent;
mod holds;
mod lanes;
mod operations;
mod page_data;
#[cfg(test)]
mod round_trip;
mod scene;
mod selection;
mod servers;
mod ticks;

pub use extent::{Extent, HTML_BUDGET_DEFAULT, ParseWindowError, parse_window};
pub(crate) use page_data::{PageData, page_data};
