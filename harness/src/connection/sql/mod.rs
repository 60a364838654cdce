//! Databases that are asked in SQL: a client of the server that takes writes, whatever its
//! protocol.

mod client;
mod wire;

pub use client::SqlClient;
pub use wire::{Answer, SqlWire, answer_within, ask_sql};
