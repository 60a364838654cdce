//! A history taken apart for the properties, and the form of their answers.

mod availability;
mod coverage;
mod failure;
pub(crate) mod faults;
mod finding;
mod of_hold;
mod parts;
mod sights;
pub(crate) mod vacuity;

pub(crate) use availability::{availability, stalled};
pub(crate) use coverage::{Tries, coverage};
pub(crate) use failure::failure;
pub(crate) use faults::{active, faults, touches_client, window, windows};
pub(crate) use finding::{FINDINGS_MAX, Finding, Ruling, Tested, keep_few, keep_first};
pub(crate) use parts::{Case, is_shared};
pub(crate) use sights::{Sight, sight, sights, unnamed};
pub(crate) use vacuity::Run;
