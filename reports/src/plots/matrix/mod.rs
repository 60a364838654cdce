//! The comparison as one picture for a slide: locks on topologies against hazards, and what each
//! costs. Not for: arranging it, which `grid` and `price` do.

mod cell;
mod costs;
mod layout;
mod picture;

pub(crate) use picture::matrix;
