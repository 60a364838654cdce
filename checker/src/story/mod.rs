//! Story of a finding: what happened, in numbered steps that end with the contradiction.
//!
//! For: the one text that every report prints as it stands. Each sentence cites the events that it
//! rests on; what is concluded and not read off an event is marked as not certain. Not for:
//! completeness; a story tells what leads to the contradiction and leaves the rest to the timeline.

mod arrival;
mod circumstance;
mod deed;
mod expired;
mod failure;
mod holder;

mod leftover;
mod ownership;
mod queue;
mod reentrancy;
mod renewals;
mod roles;
mod routes;
mod stalls;
mod steps;
mod teller;
mod token;
mod trace;

pub(crate) use circumstance::last_gone;
pub(crate) use teller::Teller;
