//! The section of the topology: a picture of clients, servers and links, with roles and faults.
//!
//! For: seeing where a fault acts. Without JavaScript it shows the whole run; with it, what held
//! in the view of the timeline, for each place carries its times as data.

mod layout;
mod picture;

pub(super) use picture::section;
