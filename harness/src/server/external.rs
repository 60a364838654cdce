//! Servers that someone else runs: entered through the gateway, never started, killed or emptied.
//!
//! For: what is peculiar to them as a topology. Not for: whether they are what the scenario says,
//! see `proof`, nor what may be done to them, which the rules of scenarios say.

use std::net::SocketAddr;
use std::time::Duration;

use async_trait::async_trait;
use lockstorm_nemesis::FaultError;
use lockstorm_scenarios::{Disturbance, External, FailoverMode, Persistence};
use rand::RngExt as _;
use tokio::time::{sleep, timeout};

use super::address::AddressBlock;
use super::node::Node;
use super::replicated::{hand_over, leader};
use super::role::{DataRole, Role};
use super::shape::{Shape, places};
use crate::connection::Route;
use crate::connection::probe::info_field;
use crate::environment_error::EnvironmentError;
use crate::gateway::{Door, Gateway, Rules, Scripts, Upstream};

/// Time that an answer may take from far away, with a connection made for it.
const PATIENCE: Duration = Duration::from_secs(3);
/// Time that servers may take to answer again when all faults are healed.
const RECOVERS_WITHIN: Duration = Duration::from_secs(30);
/// Pause between two questions whether they do.
const POLL: Duration = Duration::from_millis(20);

/// Servers that someone else runs.
pub struct Attached(pub External);

/// Opens a door to each of the servers, at the addresses that its node would have. Every key gets
/// the prefix and a word of the run's own, so that two runs never meet.
///
/// # Errors
/// When the environment lacks something that the scenario asks for, or an address is taken.
pub async fn open(
    external: &External,
    names: &[String],
    addresses: &AddressBlock,
) -> Result<Gateway, EnvironmentError> {
    let variable = |name: &str| std::env::var(name).ok();
    let mut doors = Vec::with_capacity(names.len());
    for (n, (name, url)) in names.iter().zip(external.all_urls()).enumerate() {
        let upstream = Upstream::new(name, url, external, &variable);
        let upstream = upstream.map_err(|error| EnvironmentError::External {
            node: name.clone(),
            address: format!("{url:?}"),
            reason: error.to_string(),
        })?;
        doors.push(Door {
            upstream,
            clients: addresses.public(n),
            harness: addresses.private(n),
        });
    }
    let run: u32 = rand::rng().random();
    let rules = Rules {
        prefix: format!("{}{run:08x}:", external.prefix),
        scripts: Scripts::new(external.allow.contains(&Disturbance::Scripts)),
        allow: external.allow.clone(),
    };
    Gateway::open(doors, rules).await
}

#[async_trait]
impl Shape for Attached {
    fn roles(&self, public: &[SocketAddr]) -> Vec<Role> {
        let masters = vec![Role::primary(Persistence::None); self.0.urls.len()];
        let replica = Role::Data(DataRole {
            follows: public.first().copied(),
            ..DataRole::default()
        });
        let replicas = vec![replica; self.0.replicas.len()];
        masters.into_iter().chain(replicas).collect()
    }

    fn route(&self, nodes: &[Node]) -> Route {
        Route::new(places(&nodes[..self.0.urls.len()]))
    }

    fn patience(&self) -> Duration {
        PATIENCE
    }

    /// They run already.
    async fn start(&self, _nodes: &[Node]) -> Result<(), EnvironmentError> {
        Ok(())
    }

    async fn recover(&self, nodes: &[Node]) -> Result<(), String> {
        for node in nodes {
            let answers = async {
                while node.ask(&["PING"]).await.is_err() {
                    sleep(POLL).await;
                }
            };
            if timeout(RECOVERS_WITHIN, answers).await.is_err() {
                let last = node.ask(&["PING"]).await.err();
                let last = last.map_or(String::new(), |error| error.to_string());
                return Err(format!("no answer within {RECOVERS_WITHIN:?}: {last}"));
            }
        }
        Ok(())
    }

    async fn fail_over(
        &self,
        nodes: &[Node],
        route: &Route,
        node: &Node,
        mode: FailoverMode,
    ) -> Result<(), FaultError> {
        let leader = leader(nodes, route);
        let address = address_in(
            &leader.ask(&["INFO", "replication"]).await?,
            &node.ask(&["INFO", "server"]).await?,
        );
        let address = address.ok_or_else(|| FaultError::Node {
            action: "fail over to",
            node: node.name.clone(),
            reason: format!("{} does not tell which of its replicas it is", leader.name),
        })?;
        hand_over(leader, node, address, mode).await?;
        route.replace(places(std::slice::from_ref(node)));
        Ok(())
    }
}

/// The address by which a primary knows its replica, of which this is the INFO. It may be another
/// than ours: of the replicas that are there it is the only one, or the only one with its port.
fn address_in(primary: &str, replica: &str) -> Option<(String, String)> {
    let online = primary.lines().filter_map(|line| {
        let (name, fields) = line.trim().split_once(':')?;
        let field = |name: &str| {
            let mut fields = fields.split(',').filter_map(|field| field.split_once('='));
            fields.find(|(key, _)| *key == name).map(|(_, value)| value)
        };
        let is_replica = name.strip_prefix("slave")?.parse::<u32>().is_ok();
        let online = is_replica && field("state") == Some("online");
        online.then_some((field("ip")?.to_owned(), field("port")?.to_owned()))
    });
    let mut online: Vec<_> = online.collect();
    if online.len() > 1 {
        let port = info_field(replica, "tcp_port")?;
        online.retain(|(_, known)| known == port);
    }
    let only = online.len() == 1;
    online.pop().filter(|_| only)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replica_is_known_by_its_port_where_there_are_several() {
        let line = |n: u32, ip: &str, port: u32| {
            format!("slave{n}:ip={ip},port={port},state=online,offset=14,lag=0\r\n")
        };
        let one = format!("role:master\r\n{}", line(0, "10.0.0.2", 6379));
        let two = format!("{one}{}", line(1, "10.0.0.3", 6380));
        let info = "tcp_port:6380\r\n";
        let found = |primary: &str, replica: &str| address_in(primary, replica);
        assert_eq!(found(&one, info), Some(("10.0.0.2".into(), "6379".into())));
        assert_eq!(found(&two, info), Some(("10.0.0.3".into(), "6380".into())));
        let alike = format!("{one}{}", line(1, "10.0.0.3", 6379));
        assert_eq!(found(&alike, "tcp_port:6379\r\n"), None);
        assert_eq!(found("role:master\r\n", info), None);
    }
}
