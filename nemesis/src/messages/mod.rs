//! Single messages between clients and servers: which is meant, and what becomes of it.
//!
//! For: to hold, lose or delay the one request or reply that a script names. Not for: whole links,
//! which are the business of the room `link`, and carrying bytes, which the fabric does.
//!
//! ```text
//! client ─▶ bytes ─▶ Ear (requests) ─▶ Board: is it one that is awaited? ─▶ server
//!        ◀─ bytes ◀─ Ear (replies)  ◀─ Language: what does it answer?    ◀─
//! ```
//!
//! A client has at most one operation under way, as the harness knows it; what it sends meanwhile
//! belongs to that, and what it sends otherwise renews.

mod awaited;
mod board;
mod conversation;
mod language;
mod ports;

pub use awaited::{Act, Stage};
pub use board::{AwaitedMessage, Messages, Passed, UnderWay};
pub(crate) use conversation::{Conversation, Ear};
pub(crate) use ports::Ports;
