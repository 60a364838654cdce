//! The kernel's network: a namespace of the run's own, in which links fault real packets.
//!
//! For: what the fabric does, without a hop in between, and what only packets can suffer: loss and
//! reordering. All parts of a run are in one namespace, on the same loopback addresses as without
//! it. A rule of its firewall hands each packet between two of them to this process (NFQUEUE),
//! which knows by both addresses whose link it is on, and lets it go, keeps it for a while, drops
//! it, or has it answered with a reset. Not for: making the servers or the clients enter it; they
//! are born inside, as children of a process that entered it before it did anything else.
//!
//! ```text
//!  caller ──▶ its kernel ──▶ lo ──▶ INPUT ──▶ NFQUEUE ──▶ ... ──▶ server
//!                                      │  ▲
//!                         header, id   ▼  │  pass, drop, reset: at once or when it is due
//!                                 Post (a thread) ── Traffic ── Link
//! ```
//!
//! Why NFQUEUE and not netem: it needs no module that distributions leave out, it knows links by
//! their two names rather than devices by their queues, and each packet is counted, so that every
//! fault has its proof. Nothing of it outlives the run: the namespace has no name and no file, and
//! ends with the last process in it.

mod header;
mod namespace;
mod packets;
mod post;
mod queue;
mod traffic;

pub use namespace::{Namespace, NamespaceError};
pub use packets::Kernel;
