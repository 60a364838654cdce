//! A connection to one server of PostgreSQL, by the crate `tokio-postgres`.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio_postgres::{Client, Config, NoTls, SimpleQueryMessage};

use crate::connection::sql::{Answer, SqlWire, answer_within};
use crate::connection::stream::connect;

/// Name under which clients come; servers of a run ask for no password.
const USER: &str = "lockstorm";
/// Name of the database in which a pooler is asked about itself.
const POOLERS_OWN: &str = "pgbouncer";
/// Database that every server has from the beginning.
const DATABASE: &str = "postgres";

/// An open connection; closed when it is dropped, whatever it waits for.
pub struct PostgresWire {
    client: Client,
    /// Reads and writes.
    driver: JoinHandle<()>,
}

impl Drop for PostgresWire {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

impl PostgresWire {
    async fn enter(
        source: Option<IpAddr>,
        address: SocketAddr,
        database: &str,
    ) -> Result<Self, String> {
        let refused = |error: String| format!("no connection to {address}: {error}");
        let stream = connect(source, address).await;
        let stream = stream.map_err(|error| refused(error.to_string()))?;
        let mut config = Config::new();
        config.user(USER).dbname(database);
        let connected = config.connect_raw(stream, NoTls).await;
        let (client, connection) = connected.map_err(|error| refused(words(&error)))?;
        let driver = tokio::spawn(async {
            // An error shows at the client too.
            let _ = connection.await;
        });
        Ok(Self { client, driver })
    }
}

impl SqlWire for PostgresWire {
    async fn open(source: Option<IpAddr>, address: SocketAddr) -> Result<Self, String> {
        Self::enter(source, address, DATABASE).await
    }

    async fn ask(&mut self, statement: &str) -> Result<Answer, String> {
        let messages = match self.client.simple_query(statement).await {
            Ok(messages) => messages,
            Err(error) => {
                let refused = error.as_db_error().filter(|_| !self.client.is_closed());
                return match refused {
                    Some(refused) => Ok(Answer::Refused(
                        refused.code().code().to_owned(),
                        refused.message().to_owned(),
                    )),
                    None => Err(words(&error)),
                };
            }
        };
        let (mut rows, mut changed, mut has_rows) = (Vec::new(), 0, false);
        for message in messages {
            match message {
                SimpleQueryMessage::RowDescription(_) => has_rows = true,
                SimpleQueryMessage::Row(row) => {
                    let values = (0..row.len()).map(|at| row.get(at).map(str::to_owned));
                    rows.push(values.collect());
                }
                SimpleQueryMessage::CommandComplete(count) => changed = count,
                _ => {}
            }
        }
        Ok(if has_rows {
            Answer::Rows(rows)
        } else {
            Answer::Changed(changed)
        })
    }

    fn is_closed(&mut self) -> bool {
        self.client.is_closed()
    }
}

/// Sends one statement to a pooler itself, and not to the server behind it.
///
/// # Errors
/// In words, why there is no answer, or what it refused.
pub async fn ask_pooler(
    address: SocketAddr,
    statement: &str,
    within: Duration,
) -> Result<Answer, String> {
    let asked = async {
        let mut wire = PostgresWire::enter(None, address, POOLERS_OWN).await?;
        wire.ask(statement).await
    };
    answer_within(asked, within).await
}

/// Reason for an error, which the crate keeps below a general word.
fn words(error: &tokio_postgres::Error) -> String {
    use std::error::Error as _;
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

/// A text as statements write it, whatever is in it: as bytes.
pub fn postgres_literal(text: &str) -> String {
    use std::fmt::Write as _;
    let mut written = String::from("'\\x");
    for byte in text.bytes() {
        // Writing to a text cannot fail.
        let _ = write!(written, "{byte:02x}");
    }
    written.push_str("'::bytea");
    written
}
