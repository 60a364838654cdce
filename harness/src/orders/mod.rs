//! The guarded resource of the origin: an order job on `SQLite`.
//!
//! Services look for unpaid orders past their time, close each, and give its stock back. Done twice
//! for one order, stock is given back twice, for the database does as it is told: it is the lock
//! that is to keep the services apart. A fenced database also looks at the tokens.
//!
//! For: real effects of holders on something outside of the lock. Not for: judging them; what was
//! read and written goes into the history, and the checker tells the damage.

mod database;
mod desk;

pub use database::OrderDatabase;
pub use desk::{Bearer, Desk, DeskError, Found};
