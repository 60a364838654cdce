//! A connection to one server of a database.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tokio::time::timeout;

/// Answer to a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is carried out; so many rows were changed.
    Changed(u64),
    /// Rows that were asked for, each with its values.
    Rows(Vec<Vec<Option<String>>>),
    /// The server refused it: its word for the reason, and the reason.
    Refused(String, String),
}

impl Answer {
    /// The first value of the first row.
    pub fn value(&self) -> Option<&str> {
        self.of_row(0)
    }

    /// A value of the first row, counted from 0.
    pub fn of_row(&self, at: usize) -> Option<&str> {
        match self {
            Self::Rows(rows) => rows.first()?.get(at)?.as_deref(),
            Self::Changed(_) | Self::Refused(..) => None,
        }
    }
}

/// An open connection. One that gave no answer is of no more use, and is to be dropped.
pub trait SqlWire: Sized + Send {
    /// Connects to `address`, from `source` if that is said.
    ///
    /// # Errors
    /// In words, why there is no connection.
    fn open(
        source: Option<IpAddr>,
        address: SocketAddr,
    ) -> impl Future<Output = Result<Self, String>> + Send;

    /// Sends one statement and waits for its answer.
    ///
    /// # Errors
    /// In words, why there is none.
    fn ask(&mut self, statement: &str) -> impl Future<Output = Result<Answer, String>> + Send;

    /// Tells whether the server has closed it, as far as that has come here.
    fn is_closed(&mut self) -> bool;
}

/// Sends one statement over a connection of its own.
///
/// # Errors
/// In words, why there is no answer, or what the server refused.
pub async fn ask_sql<W: SqlWire>(
    address: SocketAddr,
    statement: &str,
    within: Duration,
) -> Result<Answer, String> {
    let asked = async { W::open(None, address).await?.ask(statement).await };
    answer_within(asked, within).await
}

/// Waits for an answer, and takes a refusal for an error.
///
/// # Errors
/// In words, why there is no answer, or what was refused.
pub async fn answer_within(
    asked: impl Future<Output = Result<Answer, String>>,
    within: Duration,
) -> Result<Answer, String> {
    match timeout(within, asked).await {
        Ok(Ok(Answer::Refused(code, text))) => Err(format!("error {code}: {text}")),
        Ok(answer) => answer,
        Err(_) => Err(format!("no reply within {} ms", within.as_millis())),
    }
}
