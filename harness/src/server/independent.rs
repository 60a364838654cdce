//! Masters that know nothing of each other.

use std::net::SocketAddr;

use async_trait::async_trait;
use lockstorm_scenarios::Independent;

use super::binary::Program;
use super::error::EnvironmentError;
use super::node::Node;
use super::role::Role;
use super::route::Route;
use super::shape::{Shape, places, start_each};

#[async_trait]
impl Shape for Independent {
    fn roles(&self, public: &[SocketAddr]) -> Vec<Role> {
        vec![Role::primary(self.persistence); public.len()]
    }

    fn route(&self, nodes: &[Node]) -> Route {
        Route::new(places(nodes))
    }

    async fn start(&self, nodes: &[Node], program: &Program) -> Result<(), EnvironmentError> {
        start_each(nodes, program).await
    }
}
