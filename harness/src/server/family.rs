//! A primary with its replicas, as more than one topology has them.

use std::net::SocketAddr;
use std::time::Duration;

use lockstorm_nemesis::FaultError;
use lockstorm_scenarios::{DurationSpec, Persistence};
use tokio::time::{Instant, sleep};

use super::node::Node;
use super::role::{DataRole, Role};
use crate::connection::probe;
use crate::environment_error::EnvironmentError;

/// Time that replicas may take to be in step with their primary.
const IN_STEP_WITHIN: Duration = Duration::from_secs(10);
/// Pause between two questions whether they are.
const POLL: Duration = Duration::from_millis(2);

/// Commands by which a client changes a server for all who come after it, as `INFO commandstats`
/// names them; before Redis 7 it counts the subcommands of one together.
const CHANGES_OF_A_SERVER: [&str; 14] = [
    "acl",
    "acl|deluser",
    "acl|load",
    "acl|setuser",
    "client|pause",
    "config",
    "config|resetstat",
    "config|rewrite",
    "config|set",
    "debug",
    "module",
    "module|load",
    "module|loadex",
    "module|unload",
];

/// Settings of a primary and its replicas, as a scenario gives them.
pub struct Family {
    /// Number of replicas.
    pub replicas: u32,
    /// Data that the primary keeps on disk.
    pub persistence: Persistence,
    /// Data that the replicas keep on disk, if it is something else.
    pub replica_persistence: Option<Persistence>,
    /// With fewer replicas that keep up, writes are refused.
    pub min_replicas: u32,
    /// Greatest time since a replica that keeps up was heard.
    pub max_lag: DurationSpec,
}

impl Family {
    /// The roles of a primary at `primary` and of its replicas.
    pub fn roles(&self, primary: SocketAddr) -> Vec<Role> {
        let settings = vec![
            ("min-replicas-to-write", self.min_replicas.to_string()),
            ("min-replicas-max-lag", self.max_lag.0.as_secs().to_string()),
        ];
        let role = |follows, persistence| {
            Role::Data(DataRole {
                follows,
                persistence,
                settings: settings.clone(),
                introduction: None,
            })
        };
        let replica = self.replica_persistence.unwrap_or(self.persistence);
        let replicas = (0..self.replicas).map(|_| role(Some(primary), replica));
        std::iter::once(role(None, self.persistence))
            .chain(replicas)
            .collect()
    }
}

/// Empties a primary, and with it its replicas: keys, scripts, functions and the connections of
/// clients. Proves that each has its role, the settings of its start, and nothing else.
///
/// # Errors
/// When one of them does not within a named limit.
pub async fn clean(family: &[Node]) -> Result<(), EnvironmentError> {
    let primary = &family[0];
    for node in family {
        for kind in ["normal", "pubsub"] {
            tell(node, &["CLIENT", "KILL", "TYPE", kind]).await?;
        }
        tell(node, &["SCRIPT", "FLUSH"]).await?;
    }
    // Servers of before Redis 7 have no functions, and do not know the command.
    let _ = primary.ask(&["FUNCTION", "FLUSH"]).await;
    tell(primary, &["FLUSHALL"]).await?;
    let replicas = u32::try_from(family.len() - 1).unwrap_or(u32::MAX);
    wait_until_in_step(primary, replicas).await?;
    for node in family {
        prove_clean(node).await?;
        prove_unchanged(node).await?;
    }
    Ok(())
}

/// Proves that no client has changed how a server works since it started.
async fn prove_unchanged(node: &Node) -> Result<(), EnvironmentError> {
    let counts = node.ask(&["INFO", "commandstats"]).await;
    let counts = counts.map_err(|error| node.not_ready(&error.to_string()))?;
    match change_in(&counts) {
        None => Ok(()),
        Some(command) => Err(node.not_ready(&format!("a client has sent it {command}"))),
    }
}

/// The first of the commands counted here that changes a server.
fn change_in(counts: &str) -> Option<&str> {
    let names = counts
        .lines()
        .filter_map(|line| Some(line.strip_prefix("cmdstat_")?.split_once(':')?.0));
    names
        .into_iter()
        .find(|name| CHANGES_OF_A_SERVER.contains(name))
}

async fn tell(node: &Node, command: &[&str]) -> Result<(), EnvironmentError> {
    let told = node.ask(command).await;
    told.map(|_| ())
        .map_err(|error| node.not_ready(&error.to_string()))
}

/// Proves that a server has its first role, and no key.
///
/// # Errors
/// When it has another role, or keeps something.
pub async fn prove_clean(node: &Node) -> Result<(), EnvironmentError> {
    let server = node.server();
    let has = async { Ok::<_, FaultError>((server.rank().await?, server.entries().await?)) };
    let (rank, entries) = has
        .await
        .map_err(|error| node.not_ready(&error.to_string()))?;
    let follows = node.role.data().is_some_and(|role| role.follows.is_some());
    if rank.leads == follows {
        return Err(node.not_ready(&rank.words));
    }
    match entries {
        0 => Ok(()),
        _ => Err(node.not_ready(&format!("it keeps {entries} entries"))),
    }
}

/// Makes `node` the primary of its family. The former one is not told: nobody tells it in a real
/// failover either.
///
/// # Errors
/// When a living replica does not obey.
pub async fn promote(family: &[Node], node: &Node) -> Result<(), FaultError> {
    node.ask(&["REPLICAOF", "NO", "ONE"]).await?;
    let (ip, port) = (node.public.ip().to_string(), node.public.port().to_string());
    for other in family {
        let follows = other.role.data().is_some_and(|role| role.follows.is_some());
        if other.name != node.name && other.pid().is_some() && follows {
            other.ask(&["REPLICAOF", &ip, &port]).await?;
        }
    }
    Ok(())
}

/// Waits until as many replicas get what is written to `primary`, as it is written.
///
/// # Errors
/// When they do not within a named limit.
pub async fn wait_until_in_step(primary: &Node, replicas: u32) -> Result<(), EnvironmentError> {
    let deadline = Instant::now() + IN_STEP_WITHIN;
    loop {
        let reached = probe::replicas_in_step(primary.private).await;
        if reached == Ok(i64::from(replicas)) {
            return Ok(());
        }
        if Instant::now() > deadline {
            return Err(primary.not_ready(&match reached {
                Ok(n) => format!("{n} of {replicas} replicas are in step"),
                Err(reason) => reason,
            }));
        }
        sleep(POLL).await;
    }
}

#[cfg(test)]
mod tests {
    use super::change_in;

    #[test]
    fn a_change_of_settings_is_seen_in_what_servers_count() {
        let seven = "# Commandstats\r\ncmdstat_config|get:calls=1,usec=9\r\n";
        assert_eq!(change_in(seven), None);
        let set = format!("{seven}cmdstat_config|set:calls=1,usec=9\r\n");
        assert_eq!(change_in(&set), Some("config|set"));
        let six = "# Commandstats\r\ncmdstat_set:calls=1\r\ncmdstat_config:calls=1,usec=9\r\n";
        assert_eq!(change_in(six), Some("config"));
    }
}
