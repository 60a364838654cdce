//! Check that the access list of a server bounds what scripts of others can touch.
//!
//! A script may make up the names of keys, so that only the server can tell whose they are. What
//! its access list lets the user do is asked for and read; nothing is tried, for what would have to
//! be tried is harmful.

use redis::Value;

use crate::connection::WireError;
use crate::gateway::{EnterError, Upstream, is_harmless};

/// Commands that no script can call, whoever may.
const NOT_IN_SCRIPTS: [&str; 14] = [
    "acl",
    "auth",
    "client",
    "debug",
    "discard",
    "eval",
    "evalsha",
    "exec",
    "failover",
    "hello",
    "multi",
    "script",
    "subscribe",
    "unsubscribe",
];

/// Permissions that runs which are allowed scripts need besides the commands of the lock.
const NEEDED: &str = "+info +ping +exists +del +eval +evalsha +script|load +script|exists \
                      +acl|whoami +acl|getuser";

/// Proves that the user of `upstream` can touch nothing but what begins with `prefix`, whatever
/// script it runs. `commands` are those that the lock needs.
///
/// # Errors
/// When the access list allows more; the error names it, and the command that forbids it.
pub async fn prove_bounded(
    upstream: &Upstream,
    prefix: &str,
    commands: &[&str],
) -> Result<(), EnterError> {
    let unproved =
        |why: &str| EnterError::Refused(unproved(upstream.user(), prefix, commands, why));
    let mut wire = upstream.enter().await?;
    let mut ask = async |words: &[&str]| {
        let mut command = redis::Cmd::new();
        command.arg(words);
        wire.send(&command).await.map_err(|error| match error {
            WireError::Server(_) => unproved("it may not even be read by this user"),
            WireError::Lost(text) => EnterError::Unreachable(text),
        })
    };
    let user = text_of(&ask(&["ACL", "WHOAMI"]).await?);
    let rules = ask(&["ACL", "GETUSER", &user]).await?;
    match beyond(&rules, prefix) {
        Some(why) => Err(unproved(&why)),
        None => Ok(()),
    }
}

fn unproved(user: &str, prefix: &str, commands: &[&str], why: &str) -> String {
    let mut named: Vec<String> = commands
        .iter()
        .map(|command| format!("+{}", command.to_ascii_lowercase().replace(' ', "|")))
        .filter(|command| !NEEDED.split(' ').any(|needed| needed == command))
        .collect();
    named.sort_unstable();
    named.dedup();
    let named = named.join(" ");
    format!(
        "`allow` has scripts, and what scripts touch only the server's access list can bound; \
         that of user '{user}' does not: {why}; its operator can give the run a user that it does \
         bound: ACL SETUSER {user} resetkeys ~{prefix}* resetchannels &{prefix}* -@all {NEEDED} \
         {named}, and any other command of keys that the library needs"
    )
}

/// Permission beyond `prefix`, if the rules of a user, as ACL GETUSER tells them, give any.
fn beyond(rules: &Value, prefix: &str) -> Option<String> {
    let fields = fields_of(rules);
    if fields.is_empty() {
        return Some("the server does not tell it".to_owned());
    }
    let mut seen = false;
    for (name, value) in &fields {
        let wrong = match name.as_str() {
            "keys" => patterns_beyond(value, prefix, "keys"),
            "channels" => patterns_beyond(value, prefix, "channels"),
            "commands" => {
                seen = true;
                command_beyond(&text_of(value))
            }
            "selectors" => match value {
                Value::Array(selectors) => selectors.iter().find_map(|one| beyond(one, prefix)),
                _ => Some("its selectors cannot be read".to_owned()),
            },
            _ => None,
        };
        if wrong.is_some() {
            return wrong;
        }
    }
    (!seen).then(|| "the server does not tell its commands".to_owned())
}

/// Names and values, which come in turn, or as a map.
fn fields_of(rules: &Value) -> Vec<(String, Value)> {
    match rules {
        Value::Array(items) => items
            .chunks_exact(2)
            .map(|pair| (text_of(&pair[0]), pair[1].clone()))
            .collect(),
        Value::Map(pairs) => pairs
            .iter()
            .map(|(name, value)| (text_of(name), value.clone()))
            .collect(),
        _ => Vec::new(),
    }
}

/// The patterns of keys or channels, of which one does not begin with `prefix`. Since Redis 7 they
/// are one text, such as `~a:* %R~b:*`; before they were a list without the signs.
fn patterns_beyond(value: &Value, prefix: &str, what: &str) -> Option<String> {
    let patterns: Vec<String> = match value {
        Value::Array(items) => items.iter().map(text_of).collect(),
        text => text_of(text)
            .split_ascii_whitespace()
            .map(|pattern| {
                let sign = pattern.find(['~', '&']).map_or(0, |at| at + 1);
                pattern[sign..].to_owned()
            })
            .collect(),
    };
    let other = patterns
        .iter()
        .find(|pattern| !pattern.starts_with(prefix))?;
    Some(format!("it may use {what} that match '{other}'"))
}

/// A command in rules such as `-@all +get +client|id` that a script could do harm with.
fn command_beyond(rules: &str) -> Option<String> {
    let mut words = rules.split_ascii_whitespace();
    if words.next() != Some("-@all") {
        return Some("it may run more commands than are named one by one".to_owned());
    }
    words.find_map(|word| {
        let granted = word.strip_prefix('+')?;
        let command = granted.split('|').next().unwrap_or(granted);
        let is_bounded = NOT_IN_SCRIPTS.contains(&command) || is_harmless(command);
        (!is_bounded).then(|| format!("it may run {granted}, in scripts too"))
    })
}

fn text_of(value: &Value) -> String {
    match value {
        Value::BulkString(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::SimpleString(text) => text.clone(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bulk(text: &str) -> Value {
        Value::BulkString(text.as_bytes().to_vec())
    }

    fn list(items: &[&str]) -> Value {
        Value::Array(items.iter().map(|item| bulk(item)).collect())
    }

    fn rules(commands: &str, keys: Value, channels: Value, selectors: &[Value]) -> Value {
        let mut fields = vec![
            bulk("flags"),
            list(&["on"]),
            bulk("commands"),
            bulk(commands),
        ];
        fields.extend([bulk("keys"), keys, bulk("channels"), channels]);
        fields.extend([bulk("selectors"), Value::Array(selectors.to_vec())]);
        Value::Array(fields)
    }

    #[test]
    fn a_user_of_the_prefix_and_of_named_commands_is_bounded() {
        let commands = "-@all +get +set +del +eval +evalsha +script|load +client|id +publish";
        for (keys, channels) in [
            (bulk("~team:*"), bulk("&team:*")),
            (bulk("%RW~team:a* ~team:*"), bulk("")),
            (list(&["team:*"]), list(&["team:*"])),
        ] {
            assert_eq!(beyond(&rules(commands, keys, channels, &[]), "team:"), None);
        }
    }

    #[test]
    fn whatever_reaches_further_is_named() {
        let good = || (bulk("~team:*"), bulk("&team:*"));
        let said = |commands: &str, (keys, channels): (Value, Value), selectors: &[Value]| {
            let rules = rules(commands, keys, channels, selectors);
            beyond(&rules, "team:").expect("it is not bounded")
        };
        assert!(said("+@all -@dangerous", good(), &[]).contains("one by one"));
        for command in [
            "flushall", "keys", "scan", "rename|x", "@read", "sort", "function",
        ] {
            let commands = format!("-@all +get +{command}");
            assert!(said(&commands, good(), &[]).contains(command), "{command}");
        }
        let keys = |keys| (keys, bulk("&team:*"));
        assert!(said("-@all +get", keys(bulk("~*")), &[]).contains("'*'"));
        assert!(said("-@all +get", keys(bulk("~team:* %R~app:*")), &[]).contains("'app:*'"));
        assert!(said("-@all +get", keys(list(&["*"])), &[]).contains("'*'"));
        let all_channels = (bulk("~team:*"), bulk("&*"));
        assert!(said("-@all +get", all_channels, &[]).contains("channels"));
        let selector = rules("-@all +set", bulk("~other:*"), bulk(""), &[]);
        assert!(said("-@all +get", good(), &[selector]).contains("'other:*'"));
        for odd in [
            Value::Nil,
            Value::Array(Vec::new()),
            bulk("x"),
            list(&["keys", "~team:*"]),
        ] {
            assert!(beyond(&odd, "team:").is_some(), "{odd:?}");
        }
    }
}
