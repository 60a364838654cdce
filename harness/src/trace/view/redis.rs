//! The view of a server of Redis.
//!
//! Nothing may change because somebody looked. The danger is in a key that has expired and is still
//! there: a primary deletes it as soon as anybody reads it, and tells its replicas and its log to
//! do the same. MEMORY USAGE sees a key without a look at its clock, and KEYS passes over what has
//! expired without removing it; only what both have seen is read. From Redis 7.2 on the connection
//! does not even count as use of a key (CLIENT NO-TOUCH); before, it does, in the order in which
//! full servers evict keys, as a try of any client does.

use std::net::SocketAddr;

use lockstorm_checker::history::{Name, NodeView};
use lockstorm_nemesis::CONNECTION_NAME;
use redis::{Cmd, Value};
use tokio::net::TcpStream;

use super::{Views, silent};
use crate::connection::{Wire, WireError};
use crate::output::readable;
use crate::trace::marks::Marks;
use crate::trace::roles::role_of;

/// Bytes that are read of what stands at a key: longer than any mark.
const READ_MAX: usize = 128;
/// Characters that are shown of it where it is nobody's mark.
const SHOWN_MAX: usize = 16;
/// Members of a collection that are read at most, and the place of the last of them.
const MEMBERS_MAX: &str = "64";
const LAST_MEMBER: &str = "63";
/// Holders named at most, of those who share a lock.
const HOLDERS_MAX: usize = 16;

/// Role of the server at `address`, and its view of each lock; the error is in words.
pub async fn look(address: SocketAddr, keys: &[Name], marks: &Marks) -> Result<Views, String> {
    let looked = look_at(address, keys, marks).await;
    looked.map_err(|error| error.to_string())
}

async fn look_at(address: SocketAddr, keys: &[Name], marks: &Marks) -> Result<Views, WireError> {
    let lost = |error: std::io::Error| WireError::Lost(error.to_string());
    let mut wire = Wire::new(TcpStream::connect(address).await.map_err(lost)?);
    // READONLY has a replica of a Cluster answer for its shard. Whoever does not know one of these
    // says so, and that is all.
    for words in [
        &["CLIENT", "SETNAME", CONNECTION_NAME][..],
        &["CLIENT", "NO-TOUCH", "ON"],
        &["READONLY"],
    ] {
        answer(&mut wire, words).await?;
    }
    let role = answer(&mut wire, &["ROLE"]).await?;
    let role = role.as_ref().and_then(role_of).map(Name::from);
    let mut found = Vec::with_capacity(keys.len());
    for key in keys {
        found.push(look_for(&mut wire, key, marks).await?);
    }
    Ok((role, found))
}

/// View of one key; none where it is another server's.
async fn look_for(
    wire: &mut Wire,
    key: &str,
    marks: &Marks,
) -> Result<Option<NodeView>, WireError> {
    let absent = NodeView::default();
    let here = wire.send(&command(&["MEMORY", "USAGE", key])).await;
    match here {
        Ok(Value::Int(_)) => {}
        Ok(_) => return Ok(Some(absent)),
        Err(WireError::Server(text)) if text.starts_with("MOVED") => return Ok(None),
        // A slot that is on the move: the key is there already.
        Err(WireError::Server(text)) if text.starts_with("ASK") => return Ok(Some(absent)),
        Err(WireError::Server(text)) => return Ok(Some(silent("", &text))),
        Err(lost @ WireError::Lost(_)) => return Err(lost),
    }
    let seen = answer(wire, &["KEYS", &exactly(key)]).await?;
    if !matches!(&seen, Some(Value::Array(keys)) if !keys.is_empty()) {
        return Ok(Some(absent));
    }
    let left = answer(wire, &["PTTL", key]).await?;
    let left_ms = match left {
        // It expired in between.
        Some(Value::Int(-2)) => return Ok(Some(absent)),
        Some(Value::Int(left)) => u64::try_from(left).ok(),
        Some(_) | None => None,
    };
    let kind = match answer(wire, &["TYPE", key]).await? {
        // It expired in between.
        Some(Value::SimpleString(kind)) if kind == "none" => return Ok(Some(absent)),
        Some(Value::SimpleString(kind)) => kind,
        Some(_) | None => String::new(),
    };
    let texts = match kind.as_str() {
        "string" => {
            let end = (READ_MAX - 1).to_string();
            texts(wire, &["GETRANGE", key, "0", &end]).await?
        }
        "hash" => texts(wire, &["HKEYS", key]).await?,
        "zset" => texts(wire, &["ZRANGE", key, "0", LAST_MEMBER]).await?,
        "list" => texts(wire, &["LRANGE", key, "0", LAST_MEMBER]).await?,
        "set" => texts(wire, &["SRANDMEMBER", key, MEMBERS_MAX]).await?,
        _ => Vec::new(),
    };
    let mut held_by: Vec<Name> = texts.iter().filter_map(|text| marks.owner(text)).collect();
    held_by.sort();
    held_by.dedup();
    held_by.truncate(HOLDERS_MAX);
    // A member may outlive what it stands for: whoever looks next may be the one who removes it.
    let has_members = matches!(kind.as_str(), "zset" | "list" | "set");
    let is_told = held_by.is_empty() || has_members;
    let content = is_told.then(|| content(&kind, &texts).into());
    Ok(Some(NodeView {
        held_by,
        content,
        left_ms,
        ..absent
    }))
}

/// Description of what stands at a key, in words.
fn content(kind: &str, texts: &[String]) -> String {
    match (kind, texts) {
        ("string", [text]) if text.chars().count() > SHOWN_MAX => {
            let begin: String = text.chars().take(SHOWN_MAX).collect();
            format!("the value {begin}…")
        }
        ("string", [text]) => format!("the value {text}"),
        ("hash", [_]) => "a hash of one field".to_owned(),
        ("hash", fields) => format!("a hash of {} fields", fields.len()),
        ("zset" | "list" | "set", [_]) => format!("a {kind} of one member"),
        ("zset" | "list" | "set", members) => format!("a {kind} of {} members", members.len()),
        ("", _) => "something".to_owned(),
        (kind, _) => format!("a {kind}"),
    }
}

/// The pattern that only `key` matches.
fn exactly(key: &str) -> String {
    let mut pattern = String::with_capacity(key.len());
    for letter in key.chars() {
        if "*?[]\\^-".contains(letter) {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern
}

/// The reply to a command; none where the server answers with an error.
async fn answer(wire: &mut Wire, words: &[&str]) -> Result<Option<Value>, WireError> {
    match wire.send(&command(words)).await {
        Ok(value) => Ok(Some(value)),
        Err(WireError::Server(_)) => Ok(None),
        Err(lost @ WireError::Lost(_)) => Err(lost),
    }
}

/// All texts in the reply to a command.
async fn texts(wire: &mut Wire, words: &[&str]) -> Result<Vec<String>, WireError> {
    let value = answer(wire, words).await?;
    Ok(value.as_ref().map(texts_of).unwrap_or_default())
}

fn command(words: &[&str]) -> Cmd {
    let mut command = Cmd::new();
    for word in words {
        command.arg(*word);
    }
    command
}

/// All texts in a reply.
fn texts_of(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().flat_map(texts_of).collect(),
        Value::BulkString(bytes) => vec![readable(bytes)],
        Value::SimpleString(text) => vec![text.clone()],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_stands_for_its_key_alone() {
        assert_eq!(exactly("orders"), "orders");
        assert_eq!(exactly("{a}*?[x]\\"), "{a}\\*\\?\\[x\\]\\\\");
    }

    #[test]
    fn what_names_nobody_is_described() {
        let of = |kind, texts: &[&str]| {
            let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
            content(kind, &texts)
        };
        assert_eq!(of("string", &["locked"]), "the value locked");
        let long = "0123456789abcdef0123456789abcdef";
        assert_eq!(of("string", &[long]), "the value 0123456789abcdef…");
        assert_eq!(of("hash", &["mode", "x"]), "a hash of 2 fields");
        assert_eq!(of("zset", &["x"]), "a zset of one member");
        assert_eq!(of("list", &["x", "y"]), "a list of 2 members");
        assert_eq!(of("stream", &[]), "a stream");
    }
}
