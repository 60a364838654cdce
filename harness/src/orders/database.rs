//! The database of one run: made again, and opened once by each service.

use std::path::{Path, PathBuf};
use std::time::Duration;

use lockstorm_scenarios::Orders;
use rusqlite::{Connection, params};

use super::desk::Desk;

const SCHEMA: &str = include_str!("schema.sql");
/// Time for which a service waits for another's transaction. Each takes far less than a
/// millisecond.
const BUSY_WITHIN: Duration = Duration::from_secs(5);

/// A database of orders in a file.
#[derive(Clone, Debug)]
pub struct OrderDatabase {
    path: PathBuf,
    fenced: bool,
}

impl OrderDatabase {
    /// Makes the file, with unpaid orders numbered from 1 and no stock: each order has taken what
    /// there was of it.
    ///
    /// # Errors
    /// When the file is there already, or cannot be written.
    pub fn create(path: &Path, orders: &Orders) -> rusqlite::Result<Self> {
        let mut connection = Connection::open(path)?;
        // Nobody's data: a crash of the machine may take it.
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "OFF")?;
        let filling = connection.transaction()?;
        filling.execute_batch(SCHEMA)?;
        for number in 1..=orders.count {
            let due = u128::from(number - 1) * orders.due_every.0.as_millis();
            filling.execute(
                "INSERT INTO orders VALUES (?1, ?2, 'unpaid')",
                params![number, i64::try_from(due).unwrap_or(i64::MAX)],
            )?;
        }
        filling.commit()?;
        Ok(Self {
            path: path.to_owned(),
            fenced: orders.fenced,
        })
    }

    /// Opens it for one service.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(&self) -> rusqlite::Result<Desk> {
        let connection = Connection::open(&self.path)?;
        connection.busy_timeout(BUSY_WITHIN)?;
        connection.pragma_update(None, "synchronous", "OFF")?;
        Ok(Desk::new(connection, self.fenced))
    }
}
