//! Damage to the resources that locks guard.
//!
//! For: finding damage in what holders read and wrote. Not for: deciding whether a resource is
//! linearizable by itself, which is the business of a model.

mod appends;
mod damage;
mod repeats;
mod stale;
mod updates;
mod usage;
mod value;

pub(crate) use appends::{appends, shown};
pub(crate) use damage::Damage;
pub(crate) use repeats::repeats;
pub(crate) use stale::stale_writes;
pub(crate) use updates::{Section, lost_updates};
pub(crate) use usage::{Usage, Use, usages};
pub(crate) use value::{read_value, written_value};
