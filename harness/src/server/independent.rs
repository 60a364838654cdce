//! Masters that know nothing of each other, each with its replicas, if it has any.
//!
//! The nodes are in families: a master, then its replicas. The place of a family in the route stays
//! its own when a replica is promoted.

use std::net::SocketAddr;

use async_trait::async_trait;
use lockstorm_nemesis::FaultError;
use lockstorm_scenarios::{DurationSpec, Independent};

use super::family::{Family, clean, promote, wait_until_in_step};
use super::node::Node;
use super::role::Role;
use super::shape::{Shape, place, start_each};
use crate::connection::Route;
use crate::environment_error::EnvironmentError;

/// Redis's default; it means nothing to masters that take writes without replicas, as these do.
const MAX_LAG: DurationSpec = DurationSpec::from_secs(10);

/// Number of servers that a master and its replicas are.
const fn family_size(topology: &Independent) -> usize {
    topology.replicas as usize + 1
}

#[async_trait]
impl Shape for Independent {
    fn roles(&self, public: &[SocketAddr]) -> Vec<Role> {
        let family = Family {
            replicas: self.replicas,
            persistence: self.persistence,
            replica_persistence: None,
            min_replicas: 0,
            max_lag: MAX_LAG,
        };
        let masters = public.iter().step_by(family_size(self));
        masters.flat_map(|master| family.roles(*master)).collect()
    }

    fn route(&self, nodes: &[Node]) -> Route {
        Route::new(nodes.iter().step_by(family_size(self)).map(place).collect())
    }

    async fn start(&self, nodes: &[Node]) -> Result<(), EnvironmentError> {
        // A master comes before its replicas, which ask for it at once.
        start_each(nodes).await?;
        for family in nodes.chunks(family_size(self)) {
            wait_until_in_step(&family[0], self.replicas).await?;
        }
        Ok(())
    }

    fn can_be_cleaned(&self) -> bool {
        true
    }

    async fn clean(&self, nodes: &[Node]) -> Result<(), EnvironmentError> {
        for family in nodes.chunks(family_size(self)) {
            clean(family).await?;
        }
        Ok(())
    }

    async fn promote(&self, nodes: &[Node], route: &Route, node: &Node) -> Result<(), FaultError> {
        let mut leaders = route.nodes();
        let families = nodes.chunks(family_size(self));
        for (leader, family) in leaders.iter_mut().zip(families) {
            if family.iter().any(|member| member.name == node.name) {
                promote(family, node).await?;
                *leader = place(node);
            }
        }
        route.replace(leaders);
        Ok(())
    }
}
