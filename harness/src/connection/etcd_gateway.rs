//! Words of the JSON gateway to etcd's API.
//!
//! Source: etcd's API reference, version 3. The gateway writes numbers of 64 bits as text and
//! leaves out those that are zero; keys are in base64.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

/// A key as requests write it.
pub fn encoded(key: &str) -> String {
    BASE64_STANDARD.encode(key)
}

/// Asks for the key that was created first or last of those below `lock`, after a slash, where
/// etcd's own locks have their queue.
pub fn one_below(lock: &str, order: Order) -> Value {
    let order = match order {
        Order::OldestFirst => "ASCEND",
        Order::NewestFirst => "DESCEND",
    };
    json!({
        "key": encoded(&format!("{lock}/")),
        // The byte after the slash.
        "range_end": encoded(&format!("{lock}0")),
        "sort_target": "CREATE",
        "sort_order": order,
        "limit": 1,
    })
}

/// The range that is the one key.
pub fn the_key(key: &str) -> Value {
    json!({ "key": encoded(key) })
}

/// Order in which keys are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// By the revisions that created them.
    OldestFirst,
    /// The other way round.
    NewestFirst,
}

/// The name of a key that a range found.
pub fn key_of(found: &Value) -> Option<String> {
    let name = BASE64_STANDARD.decode(found["key"].as_str()?).ok()?;
    String::from_utf8(name).ok()
}

/// A number of 64 bits.
pub fn number(value: &Value) -> Option<u64> {
    value.as_str()?.parse().ok()
}
