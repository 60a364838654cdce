//! One look at one server: what it takes itself for, and what it knows of some locks.
//!
//! Nothing is written, and nothing may change because somebody looked.

mod etcd;
mod mariadb;
mod postgres;
mod redis;
mod zookeeper;

use std::time::Duration;

use lockstorm_checker::history::{Name, NodeView};
use lockstorm_scenarios::System;
use tokio::time::timeout;

use super::marks::Marks;
use crate::server::Node;

/// Time for one answer; all together have less.
const PATIENCE: Duration = Duration::from_secs(5);

/// Role of a server, and its view of each lock; none where that is another server's, in a Cluster.
type Views = (Option<Name>, Vec<Option<NodeView>>);

/// View that `node` has of each of `keys`. All answers together may take as long as `within`.
pub async fn look(
    node: &Node,
    keys: &[Name],
    marks: &Marks,
    within: Duration,
) -> Vec<Option<NodeView>> {
    let looked = async {
        match node.server().system() {
            System::Redis => redis::look(node.private, keys, marks).await,
            System::Etcd => etcd::look(node, keys, marks).await,
            System::Mariadb => mariadb::look(node, keys, marks).await,
            System::Postgres => postgres::look(node, keys, marks).await,
            System::Zookeeper => zookeeper::look(node, keys, marks).await,
            System::Custom => Err("nobody knows how to ask it".to_owned()),
        }
    };
    let failed = match timeout(within, looked).await {
        Ok(Ok((role, found))) => {
            let view = |view: NodeView| NodeView {
                node: node.name.as_str().into(),
                role: role.clone(),
                ..view
            };
            return found.into_iter().map(|found| found.map(view)).collect();
        }
        Ok(Err(error)) => error,
        Err(_) => format!("no reply within {} ms", within.as_millis()),
    };
    vec![Some(silent(&node.name, &failed)); keys.len()]
}

/// A server that does not answer, and why.
pub fn silent(node: &str, why: &str) -> NodeView {
    NodeView {
        node: node.into(),
        error: Some(why.into()),
        ..NodeView::default()
    }
}
