//! Work of a client on the orders that its lock guards, every use of them recorded.

use std::sync::{Arc, Mutex};

use lockstorm_checker::history::{Function, Kind, Name, Value};
use serde_json::json;

use super::recording::Answer;
use super::session::{Reply, Session};
use crate::locks::{LockRequest, Outcome};
use crate::orders::{Bearer, Desk, DeskError, Found, OrderDatabase};
use crate::recorder::MAIN;

/// The resource of the history: a list of the orders whose stock was given back.
const RESOURCE: &str = "stock-given-back";
/// The database's answer to a fencing token that is not good enough.
pub(super) const STALE: &str = "stale-token";

/// A client's way to the orders, and what it found there.
pub struct Job {
    database: OrderDatabase,
    /// Opened when first needed.
    desk: Arc<Mutex<Option<Desk>>>,
    /// The orders that it found last and has not closed.
    due: Vec<u32>,
}

impl Job {
    /// Has found nothing yet.
    pub fn new(database: OrderDatabase) -> Self {
        Self {
            database,
            desk: Arc::default(),
            due: Vec::new(),
        }
    }
}

impl Session {
    /// Looks up which orders are due, as whoever was granted `key` last.
    pub async fn find_orders(&mut self, key: &Name) -> Reply {
        if let Err(absent) = self.show_up(key).await {
            return absent;
        }
        let (asked, by) = self.come(key);
        self.record(MAIN, Kind::Invoke, Function::Read, key, asked, None)
            .await;
        let now = self.sink.clock().now();
        let now = std::time::Duration::from_nanos(now.0);
        let outcome = self.at_desk(move |desk| desk.find(now, &by)).await;
        let found = match &outcome {
            Outcome::Done(found) => found.due.clone(),
            Outcome::Denied | Outcome::Failed(_) | Outcome::Unknown(_) | Outcome::Killed => {
                Vec::new()
            }
        };
        if let Some(job) = &mut self.job {
            job.due = found;
        }
        self.complete(MAIN, Function::Read, key, LockRequest::default(), outcome)
            .await
    }

    /// Closes the orders that it found last and gives their stock back, one after the other, until
    /// one is refused.
    pub async fn close_orders(&mut self, key: &Name) -> Reply {
        let due = self.job.as_mut().map(|job| std::mem::take(&mut job.due));
        for order in due.unwrap_or_default() {
            let reply = self.close_order(key, order).await;
            if reply != Reply::Done {
                return reply;
            }
        }
        Reply::Done
    }

    async fn close_order(&mut self, key: &Name, order: u32) -> Reply {
        if let Err(absent) = self.show_up(key).await {
            return absent;
        }
        let (mut asked, by) = self.come(key);
        asked.value = Some(Box::new(json!(order)));
        self.record(MAIN, Kind::Invoke, Function::Append, key, asked, None)
            .await;
        let outcome = self.at_desk(move |desk| desk.close(order, &by)).await;
        self.complete(MAIN, Function::Append, key, LockRequest::default(), outcome)
            .await
    }

    /// The client itself must be there to use the orders: one that stands still does so when it
    /// goes on, and a dead one never.
    async fn show_up(&mut self, key: &Name) -> Result<(), Reply> {
        if self.gate.pass().await.is_err() {
            return Err(Reply::Killed);
        }
        match self.lock.touch(key).await {
            // An answer shows that it is there, whatever it says.
            Outcome::Done(()) | Outcome::Denied | Outcome::Failed(_) => Ok(()),
            Outcome::Unknown(_) => Err(Reply::Unknown),
            Outcome::Killed => Err(Reply::Killed),
        }
    }

    /// Returns what every use of the orders says of itself, to the history and to the database.
    fn come(&self, key: &Name) -> (Value, Bearer) {
        let token = self.tokens.get(key).copied();
        let asked = Value {
            resource: Some(RESOURCE.into()),
            token,
            ..self.value(LockRequest::default())
        };
        let by = Bearer {
            service: self.owner.to_string(),
            token,
        };
        (asked, by)
    }

    /// Has the database do something, on a thread where it may block. A client that was stopped
    /// meanwhile sees the answer when it goes on, and a dead one never.
    async fn at_desk<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Desk) -> Result<T, DeskError> + Send + 'static,
    ) -> Outcome<T> {
        let Some(job) = &self.job else {
            return Outcome::Failed("there are no orders".to_owned());
        };
        let (database, desk) = (job.database.clone(), job.desk.clone());
        let done = tokio::task::spawn_blocking(move || {
            let mut desk = desk.lock().expect("no holder of this lock panics");
            if desk.is_none() {
                *desk = Some(database.open()?);
            }
            work(desk.as_mut().expect("it was opened just now"))
        });
        let done = done.await;
        if self.gate.pass().await.is_err() {
            return Outcome::Killed;
        }
        match done {
            Ok(Ok(done)) => Outcome::Done(done),
            Ok(Err(DeskError::Stale)) => Outcome::Denied,
            Ok(Err(DeskError::Broken(error))) => Outcome::Unknown(error.to_string()),
            Err(error) => Outcome::Unknown(error.to_string()),
        }
    }
}

impl Answer for Found {
    fn fill(&self, value: &mut Value) {
        value.resource = Some(RESOURCE.into());
        value.value = Some(Box::new(json!(self.given_back)));
    }
}

impl Answer for () {
    fn fill(&self, value: &mut Value) {
        value.resource = Some(RESOURCE.into());
    }
}
