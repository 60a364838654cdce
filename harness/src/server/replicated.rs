//! A primary and its replicas, one of which becomes primary when the nemesis says so.

use std::net::SocketAddr;
use std::time::Duration;

use async_trait::async_trait;
use lockstorm_nemesis::FaultError;
use lockstorm_scenarios::{FailoverMode, Replicated};
use tokio::time::{sleep, timeout};

use super::family::{Family, clean, promote, wait_until_in_step};
use super::node::Node;
use super::role::Role;
use super::shape::{Shape, places, start_each};
use crate::connection::Route;
use crate::environment_error::EnvironmentError;

/// Time that a primary may take to hand over; it waits for its replica, which is in step.
const FAILS_OVER_WITHIN: Duration = Duration::from_secs(5);
/// Pause between two questions whether it has.
const POLL: Duration = Duration::from_millis(2);

#[async_trait]
impl Shape for Replicated {
    fn roles(&self, public: &[SocketAddr]) -> Vec<Role> {
        let family = Family {
            replicas: self.replicas,
            persistence: self.persistence,
            replica_persistence: self.replica_persistence,
            min_replicas: self.min_replicas_to_write,
            max_lag: self.min_replicas_max_lag,
        };
        family.roles(public[0])
    }

    fn route(&self, nodes: &[Node]) -> Route {
        Route::new(places(&nodes[..1]))
    }

    async fn start(&self, nodes: &[Node]) -> Result<(), EnvironmentError> {
        // The primary first, for its replicas ask for it at once.
        start_each(nodes).await?;
        wait_until_in_step(&nodes[0], self.replicas).await
    }

    fn can_be_cleaned(&self) -> bool {
        true
    }

    async fn clean(&self, nodes: &[Node]) -> Result<(), EnvironmentError> {
        clean(nodes).await
    }

    /// FAILOVER, which holds writes back until the replica has them all, and has the primary follow
    /// it. Forced, the primary gives up its place at once if the replica is behind.
    async fn fail_over(
        &self,
        nodes: &[Node],
        route: &Route,
        node: &Node,
        mode: FailoverMode,
    ) -> Result<(), FaultError> {
        let leader = leader(nodes, route);
        let address = (node.public.ip().to_string(), node.public.port().to_string());
        hand_over(leader, node, address, mode).await?;
        route.replace(places(std::slice::from_ref(node)));
        Ok(())
    }

    async fn promote(&self, nodes: &[Node], route: &Route, node: &Node) -> Result<(), FaultError> {
        promote(nodes, node).await?;
        route.replace(places(std::slice::from_ref(node)));
        Ok(())
    }
}

/// The node that takes writes.
pub(super) fn leader<'a>(nodes: &'a [Node], route: &Route) -> &'a Node {
    let leader = &route.nodes()[0].0;
    let leader = nodes.iter().find(|node| node.name == *leader);
    leader.expect("the route leads to nodes of this topology")
}

/// Has `leader` change places with its replica `node`, which it knows by this address.
pub(super) async fn hand_over(
    leader: &Node,
    node: &Node,
    (ip, port): (String, String),
    mode: FailoverMode,
) -> Result<(), FaultError> {
    let mut command = vec!["FAILOVER", "TO", &ip, &port];
    if mode == FailoverMode::Force {
        command.extend(["FORCE", "TIMEOUT", "1"]);
    }
    leader.ask(&command).await?;
    let follows = timeout(FAILS_OVER_WITHIN, async {
        while !leader
            .ask(&["ROLE"])
            .await
            .is_ok_and(|role| role.starts_with("slave"))
        {
            sleep(POLL).await;
        }
    });
    follows.await.map_err(|_| FaultError::Node {
        action: "fail over to",
        node: node.name.clone(),
        reason: format!("{} is still primary", leader.name),
    })
}
