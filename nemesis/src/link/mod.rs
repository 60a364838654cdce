//! The links between places: what is laid on each, and what that has met.
//!
//! For: cuts, slowness, losses and reordering of one directed link, which overlap and nest, the
//! counts that prove them, and who is behind which address. Not for: carrying anything, which is
//! the business of the fabric and of the kernel's network; both ask here what to do with it.

mod count;
#[expect(
    clippy::module_inception,
    reason = "the file is named by its noun, and the folder by what it is about"
)]
mod link;
mod map;
mod rule;
mod stack;
mod talk;

pub(crate) use link::Link;
pub(crate) use map::Map;
pub(crate) use rule::{Cuts, Rule};
pub(crate) use talk::{Connection, Unanswered};
