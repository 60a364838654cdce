//! PostgreSQL's protocol, one statement and its answer at a time.

mod wire;

pub use wire::{PostgresWire, ask_pooler, postgres_literal};
