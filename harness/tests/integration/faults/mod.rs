//! Each fault against real servers: it must have the effect that it claims, seen from outside of
//! the nemesis, and its end must undo it. A fault that did nothing would fail here.

mod data;
mod links;
mod machines;
mod processes;
mod test_bed;
