//! One service's way to the orders: find those that are due, close one.

use std::time::Duration;

use rusqlite::{Connection, Transaction, TransactionBehavior, params};

/// Client that comes, and its fencing token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bearer {
    /// Name of the service.
    pub service: String,
    /// The token of its last grant, if the lock gives any.
    pub token: Option<u64>,
}

/// Findings of a look at the orders.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Unpaid orders past their time.
    pub due: Vec<u32>,
    /// Every order whose stock was given back, once for each time, in order.
    pub given_back: Vec<u32>,
}

/// Reason why the database did not do as it was told.
#[derive(Debug, thiserror::Error)]
pub enum DeskError {
    /// It refused, and nothing was changed.
    #[error("stale-token")]
    Stale,
    /// It failed; whether anything was changed nobody knows.
    #[error("the database of orders failed: {0}")]
    Broken(#[from] rusqlite::Error),
}

/// An open database.
#[derive(Debug)]
pub struct Desk {
    connection: Connection,
    fenced: bool,
}

impl Desk {
    pub(super) const fn new(connection: Connection, fenced: bool) -> Self {
        Self { connection, fenced }
    }

    /// Looks up what is due at `now`, a time since the start of the run.
    ///
    /// # Errors
    /// See [`DeskError`].
    pub fn find(&mut self, now: Duration, by: &Bearer) -> Result<Found, DeskError> {
        let now = i64::try_from(now.as_millis()).unwrap_or(i64::MAX);
        let found = self.admit(by, |looking| {
            let numbers = |sql, now: Option<i64>| -> rusqlite::Result<Vec<u32>> {
                let mut statement = looking.prepare(sql)?;
                let rows =
                    statement.query_map(rusqlite::params_from_iter(now), |row| row.get(0))?;
                rows.collect()
            };
            Ok(Found {
                due: numbers(
                    "SELECT id FROM orders WHERE status = 'unpaid' AND due_ms <= ?1 ORDER BY id",
                    Some(now),
                )?,
                given_back: numbers("SELECT order_id FROM given_back ORDER BY turn", None)?,
            })
        })?;
        Ok(found)
    }

    /// Closes `order` and gives its stock back, whatever has become of it since it was found.
    ///
    /// # Errors
    /// See [`DeskError`].
    pub fn close(&mut self, order: u32, by: &Bearer) -> Result<(), DeskError> {
        self.admit(by, |closing| {
            closing.execute("UPDATE orders SET status = 'closed' WHERE id = ?1", [order])?;
            closing.execute("UPDATE stock SET pieces = pieces + 1", [])?;
            let row = params![order, by.service];
            closing.execute(
                "INSERT INTO given_back (order_id, service) VALUES (?1, ?2)",
                row,
            )?;
            Ok(())
        })
    }

    /// How many pieces of the item there are.
    ///
    /// # Errors
    /// When the database fails.
    pub fn stock(&self) -> rusqlite::Result<u32> {
        let row = |row: &rusqlite::Row<'_>| row.get(0);
        self.connection
            .query_row("SELECT pieces FROM stock", [], row)
    }

    /// Does `work` in a transaction of its own, after a look at the token if it is fenced. Whoever
    /// passes raises the bar for all others in the same transaction.
    fn admit<T>(
        &mut self,
        by: &Bearer,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, DeskError> {
        let behaviour = TransactionBehavior::Immediate;
        let transaction = self.connection.transaction_with_behavior(behaviour)?;
        if self.fenced && !passes(&transaction, by)? {
            return Err(DeskError::Stale);
        }
        let done = work(&transaction)?;
        transaction.commit()?;
        Ok(done)
    }
}

/// Tells whether nobody has come with a larger token, nor another with the same: a service that was
/// given a token twice, by a server that forgot, would otherwise pass for the holder before it.
fn passes(transaction: &Transaction<'_>, by: &Bearer) -> rusqlite::Result<bool> {
    let Some(token) = by.token.and_then(|token| i64::try_from(token).ok()) else {
        return Ok(false);
    };
    let raised = transaction.execute(
        "UPDATE fence SET token = ?1, bearer = ?2
         WHERE token < ?1 OR (token = ?1 AND bearer = ?2)",
        params![token, by.service],
    )?;
    Ok(raised == 1)
}

#[cfg(test)]
mod tests {
    use lockstorm_scenarios::{DurationSpec, Orders};

    use super::super::database::OrderDatabase;
    use super::*;

    /// A database in a folder that lives as long as the guard.
    fn database(orders: &Orders) -> (tempfile::TempDir, OrderDatabase) {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let path = folder.path().join("orders.sqlite");
        let database = OrderDatabase::create(&path, orders).expect("the file can be made");
        (folder, database)
    }

    fn bearer(service: &str, token: u64) -> Bearer {
        Bearer {
            service: service.to_owned(),
            token: Some(token),
        }
    }

    fn orders(count: u32, fenced: bool) -> Orders {
        Orders {
            count,
            due_every: DurationSpec::from_millis(100),
            fenced,
        }
    }

    #[test]
    fn an_order_is_due_from_its_time_on_and_until_it_is_closed() {
        let (_folder, database) = database(&orders(3, false));
        let mut desk = database.open().expect("it opens");
        let a = bearer("a", 0);
        let mut due = |ms| {
            desk.find(Duration::from_millis(ms), &a)
                .expect("it answers")
        };
        assert_eq!(due(0).due, [1]);
        assert_eq!(due(199).due, [1, 2]);
        desk.close(1, &a).expect("it is closed");
        let found = desk.find(Duration::from_secs(1), &a).expect("it answers");
        assert_eq!((found.due, found.given_back), (vec![2, 3], vec![1]));
    }

    #[test]
    fn stock_is_given_back_as_often_as_an_order_is_closed() {
        let (_folder, database) = database(&orders(1, false));
        let [mut a, mut b] = ["a", "b"].map(|_| database.open().expect("it opens"));
        a.close(1, &bearer("a", 0)).expect("nothing refuses");
        b.close(1, &bearer("b", 0))
            .expect("nothing refuses it again");
        assert_eq!(
            a.stock().expect("it answers"),
            2,
            "of an order for one piece"
        );
        let found = b.find(Duration::ZERO, &bearer("b", 0)).expect("it answers");
        assert_eq!(found.given_back, [1, 1]);
    }

    #[test]
    fn a_fence_refuses_smaller_tokens_and_those_of_another_and_nothing_is_changed() {
        let (_folder, database) = database(&orders(1, true));
        let mut desk = database.open().expect("it opens");
        desk.find(Duration::ZERO, &bearer("a", 7))
            .expect("the first passes");
        for refused in [bearer("b", 6), bearer("b", 7)] {
            let answer = desk.close(1, &refused);
            assert!(matches!(answer, Err(DeskError::Stale)), "{refused:?}");
        }
        let nameless = Bearer {
            token: None,
            ..bearer("b", 0)
        };
        let answer = desk.find(Duration::ZERO, &nameless);
        assert!(matches!(answer, Err(DeskError::Stale)), "no token");
        assert_eq!(desk.stock().expect("it answers"), 0);
        desk.close(1, &bearer("a", 7))
            .expect("its own token passes again");
        desk.find(Duration::ZERO, &bearer("b", 8))
            .expect("a larger one too");
        let late = desk.close(1, &bearer("a", 7));
        assert!(matches!(late, Err(DeskError::Stale)), "the bar was raised");
        assert_eq!(desk.stock().expect("it answers"), 1);
    }
}
