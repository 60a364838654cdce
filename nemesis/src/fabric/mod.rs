//! The fabric: a TCP switch inside the process, through which every part of a run talks.
//!
//! For: cutting a directed link between two named places without any privilege. Each public
//! address is a listener of the fabric; the real server sits behind it on a private address, and
//! binds what it connects to others to its public one, so that the fabric knows both ends of
//! each connection. It also slows links: delay, jitter, a limited rate. Not for: loss and
//! reordering of packets; a user-space switch carries streams, not packets.
//!
//! ```text
//!             public address                        private address
//! caller ───▶ listener ─▶ admitted? ─▶ connect from the caller's own address ───▶ server
//!        ═══════════════ caller→server: held back or reset by its rule ═════════▶
//!        ◀══════════════ server→caller: held back or reset by its rule ══════════
//! ```
//!
//! Invariant: bytes are never lost, repeated or reordered while no rule is in force, and what a
//! source sends after a cut was made never arrives before that cut is healed.

mod connection;
mod gate;
mod switch;
mod transit;

pub use switch::{Fabric, Guest};
