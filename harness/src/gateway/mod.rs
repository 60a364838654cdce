//! The way to servers that someone else runs: a door on a loopback address for each of them.
//!
//! For: what clients of any kind need not know and must not do. Behind a door are TLS, user and
//! password; in front of it is a plain server. Every key and channel that passes gets the prefix of
//! the run, and what names keys in a way that is not known does not pass at all; nor does a script
//! that is not known. Nobody enters but processes of the user that runs this one. Not for: breaking
//! links, which is the fabric's, and verdicts.
//!
//! ```text
//! client (task, process, adapter) ─▶ door ─▶ commands: prefix put on ─▶ TLS, AUTH ─▶ server
//!                                 ◀─ frames: prefix taken off channels ◀─
//! ```

mod commands;
mod doors;
mod frames;
mod keys;
mod leftovers;
mod passage;
mod peer;
mod scripts;
mod tls;
mod upstream;

pub use commands::{Rules, is_harmless};
pub use doors::{Door, Gateway};
pub use leftovers::{find, remove};
pub use scripts::{Scripts, TRIAL};
pub use upstream::{EnterError, Upstream};
