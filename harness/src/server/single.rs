//! One server.

use std::net::SocketAddr;

use async_trait::async_trait;
use lockstorm_scenarios::Single;

use super::family::clean;
use super::node::Node;
use super::role::Role;
use super::shape::{Shape, places, start_each};
use crate::connection::Route;
use crate::environment_error::EnvironmentError;

#[async_trait]
impl Shape for Single {
    fn roles(&self, _public: &[SocketAddr]) -> Vec<Role> {
        vec![Role::primary(self.persistence)]
    }

    fn route(&self, nodes: &[Node]) -> Route {
        Route::new(places(nodes))
    }

    async fn start(&self, nodes: &[Node]) -> Result<(), EnvironmentError> {
        start_each(nodes).await
    }

    fn can_be_cleaned(&self) -> bool {
        true
    }

    async fn clean(&self, nodes: &[Node]) -> Result<(), EnvironmentError> {
        clean(nodes).await
    }
}
