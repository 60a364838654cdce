//! Proves that servers which someone else runs are what a scenario takes them for, and let a run do
//! what it has to.
//!
//! Nothing is believed that can be tried: each command that the run will need is sent once, on a
//! key of the run's own.

use std::collections::BTreeMap;

use lockstorm_scenarios::{Case, Disturbance, External, FaultSpec};
use redis::Value;

use super::access::prove_bounded;
use super::node::Node;
use crate::connection::probe::info_field;
use crate::environment_error::EnvironmentError;
use crate::gateway::{EnterError, Gateway, TRIAL, Upstream};

/// A key that only the proof uses.
const KEY: &str = "ready";
/// The digest of [`TRIAL`].
const TRIAL_DIGEST: &str = "e0e1f9fabfc9d4800c877a703b823ac0578ff8db";
/// Error with which a server refuses what a user may not do.
const NOPERM: &str = "NOPERM";

/// Facts known of the servers once they are entered.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Such as `redis 7.0.15`.
    pub version: String,
}

/// Enters every server and asks what it is.
///
/// # Errors
/// When a server is something else than it should be; the error names the first, and the remedy.
pub async fn meet(external: &External, gateway: &Gateway) -> Result<Known, EnvironmentError> {
    let mut known = Known::default();
    let mut seen: BTreeMap<String, String> = BTreeMap::new();
    for (n, upstream) in gateway.upstreams().enumerate() {
        let takes_writes = n < external.urls.len();
        let info = ask_info(upstream)
            .await
            .map_err(|error| unusable(upstream, &error))?;
        let wrong = |reason: String| unusable(upstream, &EnterError::Refused(reason));
        if let Some(reason) = misfit(&info, takes_writes) {
            return Err(wrong(reason));
        }
        let id = info_field(&info, "run_id").unwrap_or_default().to_owned();
        if let Some(first) = seen.insert(id, upstream.name.clone()) {
            return Err(wrong(format!(
                "it is the same server as {first}; name each server once"
            )));
        }
        if n == 0 {
            known.version = version_in(&info);
        }
    }
    Ok(known)
}

fn version_in(info: &str) -> String {
    let of = |name: &str, field: &str| Some(format!("{name} {}", info_field(info, field)?));
    of("valkey", "valkey_version")
        .or_else(|| of("redis", "redis_version"))
        .unwrap_or_else(|| "unknown".to_owned())
}

/// Reason why the server is another than the scenario says, if it is.
fn misfit(info: &str, takes_writes: bool) -> Option<String> {
    let field = |name: &str| info_field(info, name).unwrap_or_default();
    match field("redis_mode") {
        "cluster" => {
            let text = "it belongs to a Cluster, whose shards clients of external servers do not \
                        follow; topology.cluster starts one";
            return Some(text.to_owned());
        }
        "sentinel" => {
            let text = "it is a sentinel; name the servers that it watches over, for clients of \
                        external servers do not ask sentinels";
            return Some(text.to_owned());
        }
        _ => {}
    }
    match (field("role"), takes_writes) {
        ("slave", true) => Some(format!(
            "it is a replica of {}:{}, and takes no writes; name its primary in urls, and it in \
             replicas",
            field("master_host"),
            field("master_port")
        )),
        ("master", false) => {
            Some("it is no replica; a server that takes writes belongs into urls".to_owned())
        }
        _ => None,
    }
}

/// Everything that INFO tells.
async fn ask_info(upstream: &Upstream) -> Result<String, EnterError> {
    let mut wire = upstream.enter().await?;
    match wire.send(&redis::cmd("INFO")).await {
        Ok(Value::BulkString(text)) => Ok(String::from_utf8_lossy(&text).into_owned()),
        Ok(odd) => Err(EnterError::Refused(format!("INFO was answered {odd:?}"))),
        Err(error) => {
            let text = error.to_string();
            Err(if text.starts_with(NOPERM) {
                EnterError::Refused(forbidden(upstream, "INFO"))
            } else {
                upstream.failure(error)
            })
        }
    }
}

fn forbidden(upstream: &Upstream, command: &str) -> String {
    let user = upstream.user();
    let right = command.to_ascii_lowercase().replace(' ', "|");
    format!(
        "user '{user}' may not run {command}, which this run needs; its operator can grant it: \
         ACL SETUSER {user} +{right}"
    )
}

fn unusable(upstream: &Upstream, error: &EnterError) -> EnvironmentError {
    EnvironmentError::External {
        node: upstream.name.clone(),
        address: upstream.address(),
        reason: error.to_string(),
    }
}

/// Tries on every server that takes writes what the clients and faults of `case` will do there.
///
/// # Errors
/// The first command, key or channel that the user may not use.
pub async fn try_all(
    external: &External,
    gateway: &Gateway,
    nodes: &[Node],
    case: &Case,
) -> Result<(), EnvironmentError> {
    let mut needed: Vec<&str> = case.lock.kind().commands().to_vec();
    needed.extend(
        case.workload
            .faults()
            .into_iter()
            .flat_map(FaultSpec::commands),
    );
    // The proof itself ends with it, and so does the run.
    needed.extend(["EXISTS", "DEL"]);
    if external.allow.contains(&Disturbance::Scripts) {
        let lock = case.lock.kind().commands();
        for upstream in gateway.upstreams() {
            let bounded = prove_bounded(upstream, &external.prefix, lock).await;
            bounded.map_err(|error| unusable(upstream, &error))?;
        }
    }
    for (node, upstream) in nodes
        .iter()
        .zip(gateway.upstreams())
        .take(external.urls.len())
    {
        for command in &needed {
            let Err(error) = node.ask(&attempt(command)).await else {
                continue;
            };
            if let Some(reason) = objection(&error.to_string(), command, upstream, external) {
                return Err(unusable(upstream, &EnterError::Refused(reason)));
            }
        }
    }
    Ok(())
}

/// Meaning of an error of an attempt, if it stands in the way: a wrong type does not.
fn objection(
    error: &str,
    command: &str,
    upstream: &Upstream,
    external: &External,
) -> Option<String> {
    let (user, prefix) = (upstream.user(), &external.prefix);
    if error.contains("DEBUG command not allowed") {
        let text = "it does not allow DEBUG SLEEP; leave out the fault sleep, or ask its operator \
                    for `enable-debug-command yes`";
        return Some(text.to_owned());
    }
    let said = error.split_once(NOPERM)?.1;
    if said.contains("channel") {
        return Some(format!(
            "user '{user}' may not use channels that begin with '{prefix}'; its operator can grant \
             it: ACL SETUSER {user} &{prefix}*"
        ));
    }
    if said.contains("key") && !said.contains("command") {
        return Some(format!(
            "user '{user}' may not use keys that begin with '{prefix}'; take a prefix that it may \
             use, or have its operator grant it: ACL SETUSER {user} ~{prefix}*"
        ));
    }
    Some(forbidden(upstream, command))
}

/// A command that tries the right to use it, and does nothing that is felt.
fn attempt(command: &str) -> Vec<&str> {
    match command {
        "EVAL" => vec!["EVAL", TRIAL, "1", KEY],
        // NOSCRIPT says that it was allowed.
        "EVALSHA" => vec!["EVALSHA", TRIAL_DIGEST, "1", KEY],
        "SET" => vec!["SET", KEY, "", "PX", "1000"],
        "SETNX" => vec!["SETNX", KEY, ""],
        "EXPIRE" => vec!["EXPIRE", KEY, "1"],
        "PEXPIRE" => vec!["PEXPIRE", KEY, "1000"],
        "INCRBY" | "DECRBY" | "HEXISTS" | "HGET" | "HDEL" | "RPUSH" | "LINDEX" | "ZREM"
        | "ZSCORE" => vec![command, KEY, "0"],
        "HSET" | "HINCRBY" | "LRANGE" | "LREM" | "ZADD" | "ZINCRBY" | "ZRANGE"
        | "ZRANGEBYSCORE" => vec![command, KEY, "0", "0"],
        "PUBLISH" => vec!["PUBLISH", KEY, ""],
        "SUBSCRIBE" | "UNSUBSCRIBE" => vec![command, KEY],
        "WAIT" => vec!["WAIT", "0", "1"],
        "INFO" | "ROLE" => vec![command],
        "CLIENT ID" => vec!["CLIENT", "ID"],
        "CLIENT LIST" => vec!["CLIENT", "LIST", "TYPE", "pubsub"],
        "CLIENT KILL" => vec!["CLIENT", "KILL", "ID", "0"],
        // A pause that is over, which ends none that others have asked for.
        "CLIENT PAUSE" => vec!["CLIENT", "PAUSE", "0", "WRITE"],
        "DEBUG" => vec!["DEBUG", "SLEEP", "0"],
        "SCRIPT LOAD" => vec!["SCRIPT", "LOAD", TRIAL],
        "SCRIPT EXISTS" => vec!["SCRIPT", "EXISTS", KEY],
        other => vec![other, KEY],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_of_another_kind_is_refused_with_what_it_is() {
        let replica = "redis_mode:standalone\r\nrole:slave\r\nmaster_host:h\r\nmaster_port:1\r\n";
        assert!(misfit(replica, true).is_some_and(|text| text.contains("a replica of h:1")));
        assert_eq!(misfit(replica, false), None);
        let primary = "redis_mode:standalone\r\nrole:master\r\n";
        assert_eq!(misfit(primary, true), None);
        assert!(misfit(primary, false).is_some_and(|text| text.contains("no replica")));
        assert!(misfit("redis_mode:cluster\r\n", true).is_some());
        assert!(misfit("redis_mode:sentinel\r\n", true).is_some());
    }
}
