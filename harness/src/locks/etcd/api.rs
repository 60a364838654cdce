//! The requests of etcd's API that a lock needs, through its JSON gateway.
//!
//! Source: etcd's API reference, version 3.

use std::time::Duration;

use lockstorm_checker::history::Name;
use serde_json::{Value, json};

use crate::connection::{
    CallError, HttpAnswer, HttpClient, Order, encoded, key_of, number, one_below,
};

/// gRPC's number for what is not there, such as a lease that has ended.
const NOT_FOUND: i64 = 5;

/// One client's side of the API.
pub struct Api {
    client: HttpClient,
}

/// A lease: keys that are bound to it are gone when it ends.
#[derive(Clone, Debug)]
pub struct Lease {
    pub id: String,
    /// Time for which the server keeps it, from the sending of the last request that said so.
    pub lives: Duration,
}

/// A place in the queue for a lock: a key of its own below the lock's, bound to a lease.
#[derive(Clone, Debug)]
pub struct Place {
    pub key: String,
    pub lease: Lease,
    /// Revision in which it was created: its rank in the queue.
    pub rank: u64,
}

/// The key that stands before a place in the queue, as it was in a revision.
#[derive(Clone, Debug)]
pub struct Predecessor {
    key: String,
    as_of: u64,
}

/// State of a place in the queue.
#[derive(Clone, Debug)]
pub enum Turn {
    Mine,
    After(Predecessor),
    /// The place is no more.
    Gone,
}

impl Api {
    pub const fn new(client: HttpClient) -> Self {
        Self { client }
    }

    /// The member that was asked last.
    pub fn asked(&self) -> Option<Name> {
        self.client.asked()
    }

    /// Asks for a lease of about so long; the answer says how long.
    pub async fn grant_lease(&mut self, lives: Duration) -> Result<Lease, CallError> {
        let body = json!({ "TTL": lives.as_secs() });
        let answer = self.call("/v3/lease/grant", &body).await?;
        match (answer["ID"].as_str(), number(&answer["TTL"])) {
            (Some(id), Some(seconds)) => Ok(Lease {
                id: id.to_owned(),
                lives: Duration::from_secs(seconds),
            }),
            _ => Err(odd(&answer)),
        }
    }

    /// Extends a lease; `None` if it has ended.
    pub async fn keep_alive(&mut self, lease: &Lease) -> Result<Option<Lease>, CallError> {
        let body = json!({ "ID": lease.id });
        let answer = self.call("/v3/lease/keepalive", &body).await?;
        let Value::Object(result) = &answer["result"] else {
            return Err(odd(&answer));
        };
        let lives = result.get("TTL").and_then(number).map(Duration::from_secs);
        Ok(lives.map(|lives| Lease {
            id: lease.id.clone(),
            lives,
        }))
    }

    /// Ends a lease; all keys bound to it go.
    pub async fn revoke(&mut self, lease: &Lease) -> Result<(), CallError> {
        let body = json!({ "ID": lease.id });
        self.call("/v3/lease/revoke", &body).await.map(|_| ())
    }

    /// Tells whether anybody is in the queue for `lock`.
    pub async fn has_queue(&mut self, lock: &str) -> Result<bool, CallError> {
        let first = one_below(lock, Order::OldestFirst);
        let answer = self.call("/v3/kv/range", &first).await?;
        Ok(key_of(&answer["kvs"][0]).is_some())
    }

    /// Creates a place in the queue for `lock`, and says whose turn it is.
    pub async fn queue_up(&mut self, lock: &str, lease: Lease) -> Result<(Place, Turn), CallError> {
        let key = place_name(lock, &lease);
        let mut last = one_below(lock, Order::NewestFirst);
        // Its own, and the one before.
        last["limit"] = 2.into();
        let body = json!({
            "compare": [{ "target": "CREATE", "key": encoded(&key), "createRevision": "0" }],
            "success": [
                { "requestPut": { "key": encoded(&key), "lease": lease.id } },
                { "requestRange": last },
            ],
        });
        let answer = self.call("/v3/kv/txn", &body).await?;
        let rank = number(&answer["header"]["revision"]);
        let last = &answer["responses"][1]["response_range"]["kvs"];
        let (Some(true), Some(rank), Some(own)) =
            (answer["succeeded"].as_bool(), rank, key_of(&last[0]))
        else {
            return Err(odd(&answer));
        };
        if own != key {
            return Err(odd(&answer));
        }
        let turn = after(&last[1], rank);
        Ok((Place { key, lease, rank }, turn))
    }

    /// Says whose turn it is in the queue for `lock`, from the place that has been there before.
    pub async fn look(&mut self, lock: &str, place: &Place) -> Result<Turn, CallError> {
        let mut before = one_below(lock, Order::NewestFirst);
        before["max_create_revision"] = (place.rank - 1).into();
        let body = json!({
            "compare": [{
                "target": "CREATE",
                "key": encoded(&place.key),
                "createRevision": place.rank.to_string(),
            }],
            "success": [{ "requestRange": before }],
        });
        let answer = self.call("/v3/kv/txn", &body).await?;
        let Some(as_of) = number(&answer["header"]["revision"]) else {
            return Err(odd(&answer));
        };
        if answer["succeeded"].as_bool() != Some(true) {
            return Ok(Turn::Gone);
        }
        Ok(after(
            &answer["responses"][0]["response_range"]["kvs"][0],
            as_of,
        ))
    }

    /// Waits until the key before a place is gone.
    pub async fn gone(&mut self, predecessor: &Predecessor) -> Result<(), CallError> {
        let body = json!({
            "create_request": {
                "key": encoded(&predecessor.key),
                "start_revision": (predecessor.as_of + 1).to_string(),
                "filters": ["NOPUT"],
            },
        });
        let mut lines = self.client.listen("/v3/watch", &body).await?;
        loop {
            let line = self.client.hear(&mut lines).await?;
            let said: Value = serde_json::from_str(&line).unwrap_or_default();
            let result = &said["result"];
            if result["events"]
                .as_array()
                .is_some_and(|all| !all.is_empty())
            {
                return Ok(());
            }
            if !result.is_object() || result["canceled"].as_bool() == Some(true) {
                return Err(odd(&said));
            }
        }
    }

    /// Deletes the key of a place; whether it was there.
    pub async fn leave(&mut self, place: &Place) -> Result<bool, CallError> {
        let body = json!({ "key": encoded(&place.key) });
        let answer = self.call("/v3/kv/deleterange", &body).await?;
        Ok(number(&answer["deleted"]).unwrap_or_default() > 0)
    }

    /// Has a member take a place in the queue for `lock`, and wait there until it is the first; the
    /// place is bound to `lease`, or to a session of the member's own. Gives the key of the place.
    /// Without an answer within `patience`, or the usual time where that is longer, the connection
    /// is closed, and the member leaves the queue if it still waits.
    pub async fn lock(
        &mut self,
        lock: &str,
        lease: Option<&Lease>,
        patience: Option<Duration>,
    ) -> Result<String, CallError> {
        let lease = lease.map_or("0", |lease| &lease.id);
        let body = json!({ "name": encoded(lock), "lease": lease });
        let within = patience
            .unwrap_or(Duration::ZERO)
            .max(self.client.patience());
        let answer = self
            .client
            .post_within("/v3/lock/lock", &body, within)
            .await;
        let answer = read(&answer?)?;
        key_of(&answer).ok_or_else(|| odd(&answer))
    }

    /// Deletes the key of a place; the answer does not say whether it was there.
    pub async fn unlock(&mut self, key: &str) -> Result<(), CallError> {
        let body = json!({ "key": encoded(key) });
        self.call("/v3/lock/unlock", &body).await.map(|_| ())
    }

    async fn call(&mut self, path: &str, body: &Value) -> Result<Value, CallError> {
        read(&self.client.post(path, body).await?)
    }
}

/// Reads an answer. An error that leaves open whether the request had an effect counts as none.
fn read(answer: &HttpAnswer) -> Result<Value, CallError> {
    let Ok(said) = serde_json::from_str::<Value>(&answer.text) else {
        let text = format!("{}: {}", answer.status, answer.text.trim());
        return Err(CallError::Unknown(text));
    };
    if answer.status.is_success() {
        return Ok(said);
    }
    let text = said["message"].as_str().unwrap_or(&answer.text).to_owned();
    Err(match said["code"].as_i64() {
        Some(NOT_FOUND) => CallError::Failed(text),
        _ => CallError::Unknown(text),
    })
}

/// The name of the place that a lease has in the queue for `lock`, as etcd's library makes it.
pub fn place_name(lock: &str, lease: &Lease) -> String {
    let id: i64 = lease.id.parse().unwrap_or_default();
    format!("{lock}/{id:x}")
}

/// State of a place, where a range found this before it.
fn after(found: &Value, as_of: u64) -> Turn {
    key_of(found).map_or(Turn::Mine, |key| Turn::After(Predecessor { key, as_of }))
}

fn odd(answer: &Value) -> CallError {
    CallError::Unknown(format!("an answer that makes no sense here: {answer}"))
}
