//! ZooKeeper's protocol: sessions, requests, and what a member tells without a session.

mod answers;
mod client;
mod ephemerals;
mod four_letters;
mod jute;
mod remover;
mod wire;

pub use answers::{change_of, children_of, name_of};
pub use client::ZookeeperClient;
pub use ephemerals::{Ephemerals, node_of, number_of};
pub use four_letters::four_letters;
pub use remover::{remove, remove_all};
pub use wire::{Reply, Request};
