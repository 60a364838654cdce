//! PostgreSQL's advisory lock of a transaction: a number that goes with the transaction that took
//! it.
//!
//! Source: "Advisory Locks" in PostgreSQL's documentation. Each name has a connection of its own,
//! and its holder's transaction is open for as long as the lock is held. A pooler that lends
//! connections for a transaction cannot lend this one to anybody else meanwhile. The token comes
//! from a sequence, and what an open transaction draws from one need not be on any disk yet.

use std::collections::HashMap;
use std::time::Duration;

use lockstorm_checker::history::Name;
use lockstorm_scenarios as scenarios;

use super::advisory::number_of_lock;
use super::session_lock::mark_of_connection;
use crate::connection::{Answer, CallError, PostgresWire, SqlClient};
use crate::locks::batch_renewal::BatchRenewal;
use crate::locks::context::LockContext;
use crate::locks::lock::{Grant, Lock, LockRequest, Outcome, Released};
use crate::locks::provenance::Provenance;
use crate::locks::waiting::Waiting;

/// Answer of a statement that finds yes.
const YES: &str = "t";
/// Answer that finds no.
const NO: &str = "f";

/// One client's side of the lock.
pub struct TransactionAdvisory {
    context: LockContext,
    /// The connection of each name, which goes from one transaction to the next.
    clients: HashMap<String, SqlClient<PostgresWire>>,
    /// Names that this client holds, each with its session and the server's number of it.
    held: HashMap<String, (u64, Option<String>)>,
    /// Name of the server that was asked last.
    asked: Option<Name>,
}

impl TransactionAdvisory {
    /// Holds nothing yet.
    pub fn new(_: &scenarios::PostgresAdvisoryXact, context: LockContext) -> Self {
        Self {
            context,
            clients: HashMap::new(),
            held: HashMap::new(),
            asked: None,
        }
    }

    fn client(&mut self, key: &str) -> &mut SqlClient<PostgresWire> {
        let context = &self.context;
        let new = || SqlClient::new(context.dialer.clone(), context.route.clone());
        self.clients.entry(key.to_owned()).or_insert_with(new)
    }

    /// Names that went with a session that is over; each once.
    pub fn lost(&mut self) -> Vec<Name> {
        let clients = &mut self.clients;
        let is_lost = |key: &String, held: &mut (u64, Option<String>)| {
            let session = clients.get_mut(key).and_then(SqlClient::session);
            session != Some(held.0)
        };
        let lost = self.held.extract_if(is_lost);
        lost.map(|(key, _)| Name::from(key)).collect()
    }
}

impl Lock for TransactionAdvisory {
    async fn acquire(&mut self, key: &str, _: LockRequest) -> Outcome<Grant> {
        if self.held.contains_key(key) {
            return Outcome::Denied;
        }
        let number = number_of_lock(key);
        let take = format!(
            "BEGIN; SELECT taken, pg_backend_pid(), \
             CASE WHEN taken THEN nextval('lockstorm.fence') END \
             FROM pg_try_advisory_xact_lock({number}) AS taken"
        );
        let client = self.client(key);
        let answer = client.ask(&take).await;
        let (asked, session) = (client.asked(), client.session());
        self.asked = asked;
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => return error.into(),
        };
        match (answer.value(), session) {
            (Some(YES), Some(session)) => {
                let connection = answer.of_row(1).map(str::to_owned);
                self.held.insert(key.to_owned(), (session, connection));
                Outcome::Done(Grant {
                    is_of_session: true,
                    token: answer.of_row(2).and_then(|token| token.parse().ok()),
                    ..Grant::default()
                })
            }
            (Some(YES), None) => Outcome::Unknown("the session has ended".to_owned()),
            (Some(NO), _) => {
                // A transaction that was refused holds nothing; one that cannot be ended goes with
                // its connection.
                let _ = self.client(key).ask("ROLLBACK").await;
                Outcome::Denied
            }
            (_, _) => Outcome::Failed(format!("'{take}' was answered {answer:?}")),
        }
    }

    /// Asks the server whether the transaction is still there.
    async fn renew(&mut self, key: &str, _: LockRequest) -> Outcome<Grant> {
        let Some(&(session, _)) = self.held.get(key) else {
            return Outcome::Denied;
        };
        let client = self.client(key);
        match client.ask_in(session, "SELECT 1", Duration::ZERO).await {
            Ok(Answer::Rows(_)) => Outcome::Done(Grant::default()),
            Ok(other) => Outcome::Failed(format!("'SELECT 1' was answered {other:?}")),
            Err(error) => error.into(),
        }
    }

    async fn release(&mut self, key: &str, _: LockRequest) -> Outcome<Released> {
        let Some((session, _)) = self.held.remove(key) else {
            return Outcome::Denied;
        };
        let client = self.client(key);
        let ended: Result<Answer, CallError> =
            client.ask_in(session, "COMMIT", Duration::ZERO).await;
        match ended {
            Ok(Answer::Changed(_)) => Outcome::Done(Released::leaving(Some(0))),
            Ok(other) => Outcome::Failed(format!("'COMMIT' was answered {other:?}")),
            Err(error) => error.into(),
        }
    }
}

impl BatchRenewal for TransactionAdvisory {}

impl Waiting for TransactionAdvisory {}

impl Provenance for TransactionAdvisory {
    fn granted_by(&self) -> Vec<Name> {
        self.asked.iter().cloned().collect()
    }

    fn marks(&self, key: &str) -> Vec<String> {
        let held = self.held.get(key).and_then(|(_, number)| number.as_deref());
        held.map(mark_of_connection).into_iter().collect()
    }
}
