//! A lock that one connection to a server holds, until it gives it back or ends.
//!
//! The server counts how often a connection has taken it. Nobody but that server knows of it: not
//! its replicas, and not the server itself after a restart. A client learns that its connection has
//! ended when it next looks.

use std::collections::HashMap;
use std::time::Duration;

use lockstorm_checker::history::Name;

use crate::connection::{Answer, SqlClient, SqlWire};
use crate::locks::batch_renewal::BatchRenewal;
use crate::locks::context::LockContext;
use crate::locks::lock::{Grant, Lock, LockRequest, Outcome, Released};
use crate::locks::provenance::Provenance;
use crate::locks::waiting::Waiting;

/// Statements of a database that has such locks.
pub trait Dialect: Send + 'static {
    /// Its protocol.
    type Wire: SqlWire;

    /// Word for yes in an answer.
    const YES: &'static str;
    /// Word for no.
    const NO: &'static str;
    /// True if the server waits for a lock that is taken.
    const WAITS: bool;

    /// Statement that takes a lock, waiting no longer than that: a row of yes or no, the server's
    /// number of the connection and, where there is one, a fencing token.
    fn take(key: &str, wait: Duration) -> String;

    /// Statement that tells whether this connection has the lock.
    fn has(key: &str) -> String;

    /// Statement that gives it back once; whether this connection had it.
    fn give(key: &str) -> String;
}

/// One client's side of the lock.
pub struct SessionLock<D: Dialect> {
    client: SqlClient<D::Wire>,
    /// Names that this client holds, each with the session that has it and how often.
    held: HashMap<String, (u64, u32)>,
    /// Number by which the server knows the connection that took a name last.
    connection: Option<String>,
    /// Names that went with a session, of which nobody has been told.
    lost: Vec<Name>,
}

impl<D: Dialect> SessionLock<D> {
    /// Holds nothing yet; each connection begins with a statement, if there is one.
    pub(super) fn beginning_with(statement: Option<String>, context: LockContext) -> Self {
        Self {
            client: SqlClient::new(context.dialer, context.route).greeting(statement),
            held: HashMap::new(),
            connection: None,
            lost: Vec::new(),
        }
    }

    /// Names that went with a session that is over; each once.
    pub fn lost(&mut self) -> Vec<Name> {
        self.look();
        std::mem::take(&mut self.lost)
    }

    /// The number of the session; what was held by others is lost.
    fn look(&mut self) -> Option<u64> {
        let session = self.client.session();
        let is_lost = |_: &String, held: &mut (u64, u32)| session != Some(held.0);
        let lost = self.held.extract_if(is_lost);
        self.lost.extend(lost.map(|(key, _)| Name::from(key)));
        session
    }
}

impl<D: Dialect> Lock for SessionLock<D> {
    async fn acquire(&mut self, key: &str, ask: LockRequest) -> Outcome<Grant> {
        let wait = ask.wait.filter(|_| D::WAITS).unwrap_or_default();
        let get = D::take(key, wait);
        // A connection that holds a name is kept, wherever others are led.
        let session = self.look().filter(|_| !self.held.is_empty());
        let answer = match session {
            Some(session) => self.client.ask_in(session, &get, wait).await,
            None => self.client.ask_later(&get, wait).await,
        };
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => return error.into(),
        };
        match (answer.value(), self.look()) {
            (Some(yes), Some(session)) if yes == D::YES => {
                self.connection = answer.of_row(1).map(str::to_owned);
                let (_, times) = self.held.entry(key.to_owned()).or_insert((session, 0));
                *times += 1;
                // Who takes it once more has the token that it had.
                let token = answer.of_row(2).filter(|_| *times == 1);
                Outcome::Done(Grant {
                    is_of_session: true,
                    token: token.and_then(|token| token.parse().ok()),
                    ..Grant::default()
                })
            }
            (Some(yes), None) if yes == D::YES => {
                Outcome::Unknown("the session has ended".to_owned())
            }
            (Some(no), _) if no == D::NO => Outcome::Denied,
            (_, _) => Outcome::Failed(format!("'{get}' was answered {answer:?}")),
        }
    }

    /// Asks the server whether this session still has the name.
    async fn renew(&mut self, key: &str, _: LockRequest) -> Outcome<Grant> {
        let Some(&(session, _)) = self.held.get(key) else {
            return Outcome::Denied;
        };
        let has = D::has(key);
        match self.client.ask_in(session, &has, Duration::ZERO).await {
            Ok(answer) if answer.value() == Some(D::YES) => Outcome::Done(Grant::default()),
            Ok(Answer::Rows(_)) => {
                self.held.remove(key);
                Outcome::Denied
            }
            Ok(other) => Outcome::Failed(format!("'{has}' was answered {other:?}")),
            Err(error) => error.into(),
        }
    }

    async fn release(&mut self, key: &str, _: LockRequest) -> Outcome<Released> {
        let Some((session, times)) = self.held.remove(key) else {
            return Outcome::Denied;
        };
        let give = D::give(key);
        match self.client.ask_in(session, &give, Duration::ZERO).await {
            Ok(answer) if answer.value() == Some(D::YES) => {
                let left = times.saturating_sub(1);
                if left > 0 {
                    self.held.insert(key.to_owned(), (session, left));
                }
                Outcome::Done(Released::leaving(Some(left)))
            }
            Ok(Answer::Rows(_)) => Outcome::Denied,
            Ok(other) => Outcome::Failed(format!("'{give}' was answered {other:?}")),
            Err(error) => error.into(),
        }
    }
}

/// Mark of the connection that holds a name.
pub fn mark_of_connection(number: &str) -> String {
    format!("connection {number}")
}

impl<D: Dialect> BatchRenewal for SessionLock<D> {}

impl<D: Dialect> Waiting for SessionLock<D> {
    fn waits(&self) -> bool {
        D::WAITS
    }
}

impl<D: Dialect> Provenance for SessionLock<D> {
    fn granted_by(&self) -> Vec<Name> {
        self.client.asked().into_iter().collect()
    }

    fn marks(&self, key: &str) -> Vec<String> {
        let held = self.held.get(key).and(self.connection.as_deref());
        held.map(mark_of_connection).into_iter().collect()
    }
}
