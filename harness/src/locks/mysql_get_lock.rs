//! `GET_LOCK`: a name that one session of a server of MySQL's kind holds, until it releases it or
//! ends.
//!
//! Source: `GET_LOCK` and `RELEASE_LOCK` in MariaDB's documentation. The server counts how often a
//! session has taken the name. Nobody but that server knows of it: not its replicas, and not the
//! server itself after a restart. A client learns that its session has ended when it next looks.

use std::collections::HashMap;
use std::time::Duration;

use lockstorm_checker::history::Name;
use lockstorm_scenarios as scenarios;

use crate::connection::{Answer, SqlClient, literal};
use crate::locks::batch_renewal::BatchRenewal;
use crate::locks::context::LockContext;
use crate::locks::lock::{Grant, Lock, LockRequest, Outcome, Released};
use crate::locks::provenance::Provenance;
use crate::locks::waiting::Waiting;

/// One client's side of the lock.
pub struct MysqlGetLock {
    client: SqlClient,
    /// Names that this client holds, each with the session that has it and how often.
    held: HashMap<String, (u64, u32)>,
    /// Number by which the server knows the connection that took a name last.
    connection: Option<String>,
}

impl MysqlGetLock {
    /// Holds nothing yet.
    pub fn new(spec: &scenarios::MysqlGetLock, context: LockContext) -> Self {
        let idle = spec.idle_timeout.map(|idle| idle.0.as_secs());
        let set = idle.map(|idle| format!("SET SESSION wait_timeout = {idle}"));
        Self {
            client: SqlClient::new(context.dialer, context.route).greeting(set),
            held: HashMap::new(),
            connection: None,
        }
    }

    /// Names that went with a session that is over; each once.
    pub fn lost(&mut self) -> Vec<Name> {
        let session = self.client.session();
        let is_lost = |_: &String, held: &mut (u64, u32)| session != Some(held.0);
        let lost = self.held.extract_if(is_lost);
        lost.map(|(key, _)| key.into()).collect()
    }
}

impl Lock for MysqlGetLock {
    async fn acquire(&mut self, key: &str, ask: LockRequest) -> Outcome<Grant> {
        let (name, wait) = (literal(key), ask.wait.unwrap_or_default());
        let get = format!(
            "SELECT GET_LOCK({name}, {}), CONNECTION_ID()",
            wait.as_secs_f64()
        );
        // A connection that holds a name is kept, wherever others are led.
        let session = self.held.values().map(|held| held.0).max();
        let session = session.filter(|&session| self.client.session() == Some(session));
        let answer = match session {
            Some(session) => self.client.ask_in(session, &get, wait).await,
            None => self.client.ask_later(&get, wait).await,
        };
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => return error.into(),
        };
        match (answer.value(), self.client.session()) {
            (Some("1"), Some(session)) => {
                self.connection = answer.of_row(1).map(str::to_owned);
                let held = self.held.entry(key.to_owned()).or_insert((session, 0));
                let before = if held.0 == session { held.1 } else { 0 };
                *held = (session, before + 1);
                Outcome::Done(Grant {
                    is_of_session: true,
                    ..Grant::default()
                })
            }
            (Some("1"), None) => Outcome::Unknown("the session has ended".to_owned()),
            (Some("0"), _) => Outcome::Denied,
            (_, _) => Outcome::Failed(format!("GET_LOCK was answered {answer:?}")),
        }
    }

    /// Asks the server whether this session still has the name.
    async fn renew(&mut self, key: &str, _: LockRequest) -> Outcome<Grant> {
        let Some(&(session, _)) = self.held.get(key) else {
            return Outcome::Denied;
        };
        let name = literal(key);
        let used = format!("SELECT IS_USED_LOCK({name}) = CONNECTION_ID()");
        match self.client.ask_in(session, &used, Duration::ZERO).await {
            Ok(answer) if answer.value() == Some("1") => Outcome::Done(Grant::default()),
            Ok(Answer::Rows(_)) => {
                self.held.remove(key);
                Outcome::Denied
            }
            Ok(other) => Outcome::Failed(format!("IS_USED_LOCK was answered {other:?}")),
            Err(error) => error.into(),
        }
    }

    async fn release(&mut self, key: &str, _: LockRequest) -> Outcome<Released> {
        let Some((session, times)) = self.held.remove(key) else {
            return Outcome::Denied;
        };
        let name = literal(key);
        let release = format!("SELECT RELEASE_LOCK({name})");
        match self.client.ask_in(session, &release, Duration::ZERO).await {
            Ok(answer) if answer.value() == Some("1") => {
                let left = times.saturating_sub(1);
                if left > 0 {
                    self.held.insert(key.to_owned(), (session, left));
                }
                Outcome::Done(Released::leaving(Some(left)))
            }
            Ok(Answer::Rows(_)) => Outcome::Denied,
            Ok(other) => Outcome::Failed(format!("RELEASE_LOCK was answered {other:?}")),
            Err(error) => error.into(),
        }
    }
}

/// Mark of the connection that holds a name.
pub fn mark_of_connection(number: &str) -> String {
    format!("connection {number}")
}

impl BatchRenewal for MysqlGetLock {}

impl Waiting for MysqlGetLock {
    fn waits(&self) -> bool {
        true
    }
}

impl Provenance for MysqlGetLock {
    fn granted_by(&self) -> Vec<Name> {
        self.client.asked().into_iter().collect()
    }

    fn marks(&self, key: &str) -> Vec<String> {
        let held = self.held.get(key).and(self.connection.as_deref());
        held.map(mark_of_connection).into_iter().collect()
    }
}
