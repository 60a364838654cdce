//! A row under a unique index: whoever inserts it holds the lock, and deletes it to give it back.
//!
//! Source: the articles of docs/origin.md; MySQL's manual on duplicate keys. The row says whose it
//! is, and only its owner deletes it. It has no lease: a holder that dies keeps it forever. A
//! replica that is promoted before it has got the row grants the lock a second time.

use std::collections::HashMap;

use lockstorm_checker::history::Name;
use lockstorm_scenarios as scenarios;
use rand_chacha::ChaCha8Rng;

use crate::connection::{Answer, CallError, MysqlWire, SqlClient, mysql_literal};
use crate::locks::batch_renewal::BatchRenewal;
use crate::locks::context::{LockContext, random_value};
use crate::locks::lock::{Grant, Lock, LockRequest, Outcome, Released};
use crate::locks::provenance::Provenance;
use crate::locks::waiting::Waiting;

/// MySQL's number for a row that is there already.
const DUPLICATE: &str = "1062";

/// One client's side of the lock.
pub struct MysqlUniqueIndex {
    client: SqlClient<MysqlWire>,
    rng: ChaCha8Rng,
    /// Owners that this client wrote, by key: those that it holds, or may hold.
    owners: HashMap<String, String>,
}

impl MysqlUniqueIndex {
    /// Holds nothing yet.
    pub fn new(_: &scenarios::MysqlUniqueIndex, context: LockContext) -> Self {
        Self {
            client: SqlClient::new(context.dialer, context.route),
            rng: context.rng,
            owners: HashMap::new(),
        }
    }
}

impl Lock for MysqlUniqueIndex {
    async fn acquire(&mut self, key: &str, _: LockRequest) -> Outcome<Grant> {
        let owner = random_value(&mut self.rng);
        let (row, by) = (mysql_literal(key), mysql_literal(&owner));
        let insert = format!("INSERT INTO lockstorm.locks (name, owner) VALUES ({row}, {by})");
        match self.client.ask(&insert).await {
            Ok(Answer::Changed(_)) => {
                self.owners.insert(key.to_owned(), owner);
                Outcome::Done(Grant::default())
            }
            Ok(Answer::Refused(code, _)) if code == DUPLICATE => Outcome::Denied,
            Ok(other) => Outcome::Failed(format!("the insert was answered {other:?}")),
            Err(error) => {
                if matches!(error, CallError::Unknown(_)) {
                    self.owners.insert(key.to_owned(), owner);
                }
                error.into()
            }
        }
    }

    async fn renew(&mut self, _: &str, _: LockRequest) -> Outcome<Grant> {
        Outcome::Failed("a row of this lock never expires".to_owned())
    }

    async fn release(&mut self, key: &str, _: LockRequest) -> Outcome<Released> {
        let Some(owner) = self.owners.get(key) else {
            return Outcome::Denied;
        };
        let (row, by) = (mysql_literal(key), mysql_literal(owner));
        let delete = format!("DELETE FROM lockstorm.locks WHERE name = {row} AND owner = {by}");
        match self.client.ask(&delete).await {
            Ok(Answer::Changed(rows)) => {
                self.owners.remove(key);
                if rows > 0 {
                    Outcome::Done(Released::default())
                } else {
                    Outcome::Denied
                }
            }
            Ok(other) => Outcome::Failed(format!("the delete was answered {other:?}")),
            Err(error) => error.into(),
        }
    }
}

impl BatchRenewal for MysqlUniqueIndex {}

impl Waiting for MysqlUniqueIndex {}

impl Provenance for MysqlUniqueIndex {
    fn granted_by(&self) -> Vec<Name> {
        self.client.asked().into_iter().collect()
    }

    fn marks(&self, key: &str) -> Vec<String> {
        self.owners.get(key).cloned().into_iter().collect()
    }
}
