//! A row that says who has the lock until when, by the clock of the server.
//!
//! Source: the lock table of many applications, such as those of job schedulers. One statement
//! takes the row if it is not there or its time is over, and counts its holders: the count is the
//! fencing token. A row stays when it is given back, so that the count goes on.

use std::collections::HashMap;
use std::time::Duration;

use lockstorm_checker::history::Name;
use lockstorm_scenarios as scenarios;
use rand_chacha::ChaCha8Rng;

use crate::connection::{Answer, CallError, PostgresWire, SqlClient, postgres_literal};
use crate::locks::batch_renewal::BatchRenewal;
use crate::locks::context::{LockContext, random_value};
use crate::locks::lock::{Grant, Lock, LockRequest, Outcome, Released};
use crate::locks::provenance::Provenance;
use crate::locks::waiting::Waiting;

/// One client's side of the lock.
pub struct PostgresRowLease {
    client: SqlClient<PostgresWire>,
    rng: ChaCha8Rng,
    lease: Duration,
    /// Owners that this client wrote, by key: those that it holds, or may hold.
    owners: HashMap<String, String>,
}

impl PostgresRowLease {
    /// Holds nothing yet.
    pub fn new(spec: &scenarios::PostgresRowLease, context: LockContext) -> Self {
        Self {
            client: SqlClient::new(context.dialer, context.route),
            rng: context.rng,
            lease: spec.lease.0,
            owners: HashMap::new(),
        }
    }

    /// The end of a lease that begins now, as statements write it. `now()` would be the beginning
    /// of the transaction.
    fn end(&self) -> String {
        let millis = self.lease.as_millis();
        format!("clock_timestamp() + interval '{millis} milliseconds'")
    }

    /// Changes the row of a lock that this client holds by now; whether there is one.
    async fn change(&mut self, key: &str, expires: &str) -> Outcome<bool> {
        let Some(owner) = self.owners.get(key) else {
            return Outcome::Done(false);
        };
        let (row, by) = (postgres_literal(key), postgres_literal(owner));
        let update = format!(
            "UPDATE lockstorm.leases SET expires = {expires} \
             WHERE name = {row} AND owner = {by} AND expires > clock_timestamp()"
        );
        match self.client.ask(&update).await {
            Ok(Answer::Changed(rows)) => Outcome::Done(rows > 0),
            Ok(other) => Outcome::Failed(format!("the update was answered {other:?}")),
            Err(error) => error.into(),
        }
    }
}

/// An outcome with what a change of the row means.
fn meant<T>(changed: Outcome<bool>, yes: T) -> Outcome<T> {
    match changed {
        Outcome::Done(true) => Outcome::Done(yes),
        Outcome::Done(false) | Outcome::Denied => Outcome::Denied,
        Outcome::Failed(why) => Outcome::Failed(why),
        Outcome::Unknown(why) => Outcome::Unknown(why),
        Outcome::Killed => Outcome::Killed,
    }
}

impl Lock for PostgresRowLease {
    async fn acquire(&mut self, key: &str, _: LockRequest) -> Outcome<Grant> {
        let owner = random_value(&mut self.rng);
        let (row, by, end) = (postgres_literal(key), postgres_literal(&owner), self.end());
        let take = format!(
            "INSERT INTO lockstorm.leases AS held (name, owner, fence, expires) \
             VALUES ({row}, {by}, 1, {end}) \
             ON CONFLICT (name) DO UPDATE \
             SET owner = excluded.owner, fence = held.fence + 1, expires = {end} \
             WHERE held.expires <= clock_timestamp() RETURNING fence"
        );
        match self.client.ask(&take).await {
            Ok(Answer::Rows(rows)) if rows.is_empty() => Outcome::Denied,
            Ok(answer @ Answer::Rows(_)) => {
                self.owners.insert(key.to_owned(), owner);
                let fence = answer.value().and_then(|fence| fence.parse().ok());
                Outcome::Done(Grant {
                    token: fence,
                    ..Grant::of(self.lease)
                })
            }
            Ok(other) => Outcome::Failed(format!("the insert was answered {other:?}")),
            Err(error) => {
                if matches!(error, CallError::Unknown(_)) {
                    self.owners.insert(key.to_owned(), owner);
                }
                error.into()
            }
        }
    }

    async fn renew(&mut self, key: &str, _: LockRequest) -> Outcome<Grant> {
        let end = self.end();
        let changed = self.change(key, &end).await;
        meant(changed, Grant::of(self.lease))
    }

    async fn release(&mut self, key: &str, _: LockRequest) -> Outcome<Released> {
        let changed = self.change(key, "'-infinity'").await;
        if matches!(changed, Outcome::Done(_)) {
            self.owners.remove(key);
        }
        meant(changed, Released::default())
    }
}

impl BatchRenewal for PostgresRowLease {}

impl Waiting for PostgresRowLease {}

impl Provenance for PostgresRowLease {
    fn granted_by(&self) -> Vec<Name> {
        self.client.asked().into_iter().collect()
    }

    fn marks(&self, key: &str) -> Vec<String> {
        self.owners.get(key).cloned().into_iter().collect()
    }
}
