//! The view of a member of etcd: the first key in the queue of a lock, as far as this member knows,
//! or else the key that is called as the lock is.

use std::net::SocketAddr;

use lockstorm_checker::history::{Name, NodeView};
use serde_json::{Value, json};

use super::{PATIENCE, Views};
use crate::connection::{Order, ask_http, key_of, number, one_below, the_key};
use crate::server::Node;
use crate::trace::marks::Marks;
use crate::trace::roles::{FOLLOWER, LEADER};

/// Role of a member and its view of each lock; the error is in words.
pub async fn look(node: &Node, keys: &[Name], marks: &Marks) -> Result<Views, String> {
    let rank = node.server().rank().await;
    let leads = rank.map_err(|error| error.to_string())?.leads;
    let role = if leads { LEADER } else { FOLLOWER };
    let mut found = Vec::with_capacity(keys.len());
    for key in keys {
        found.push(Some(look_for(node.private, key, marks).await?));
    }
    Ok((Some(role.into()), found))
}

async fn look_for(address: SocketAddr, lock: &str, marks: &Marks) -> Result<NodeView, String> {
    let first = match first_of(address, one_below(lock, Order::OldestFirst)).await? {
        Value::Null => first_of(address, the_key(lock)).await?,
        first => first,
    };
    let Some(key) = key_of(&first) else {
        return Ok(NodeView::default());
    };
    let owner = marks.owner(&key);
    let content = owner.is_none().then(|| format!("the key '{key}'").into());
    let left_ms = match number(&first["lease"]) {
        Some(lease) => left(address, lease).await?,
        None => None,
    };
    Ok(NodeView {
        held_by: owner.into_iter().collect(),
        content,
        left_ms,
        ..NodeView::default()
    })
}

/// The first key of a range that this member has, whatever the others say; null if it has none.
async fn first_of(address: SocketAddr, mut range: Value) -> Result<Value, String> {
    range["serializable"] = true.into();
    let answer = ask(address, "/v3/kv/range", &range).await?;
    Ok(answer["kvs"][0].clone())
}

/// Time that a lease has left; members ask the leader, who knows whole seconds. One that is over
/// and still there has none left.
async fn left(address: SocketAddr, lease: u64) -> Result<Option<u64>, String> {
    let body = json!({ "ID": lease.to_string() });
    let answer = ask(address, "/v3/kv/lease/timetolive", &body).await?;
    Ok(Some(number(&answer["TTL"]).unwrap_or_default() * 1000))
}

async fn ask(address: SocketAddr, path: &str, body: &Value) -> Result<Value, String> {
    let answer = ask_http(address, path, Some(body), PATIENCE).await?;
    serde_json::from_str(&answer).map_err(|_| format!("{path} was answered '{answer}'"))
}
