//! Connections of clients to servers, and the ways to the server that takes writes.
//!
//! For: one request and its reply, or its time-out; pausing and killing the client on the way;
//! following a promotion, sentinels or a Cluster. Not for: retries (a lock's or a session's), and
//! not for what a reply means (a lock's).

mod dialer;
mod etcd_gateway;
mod gate;
mod http;
mod http_client;
mod listener;
mod mysql;
mod postgres;
mod primary;
pub(crate) mod probe;
mod redirect;
mod route;
mod scan;
mod sentinels;
mod several;
mod shards;
mod slot;
mod slot_map;
mod sql;
mod stream;
mod subscriptions;
mod trail;
mod wire;
mod zookeeper;

pub use dialer::{CallError, Connection, Dialer, LateReply};
pub use etcd_gateway::{Order, encoded, key_of, number, one_below, the_key};
pub use gate::{CANCELLED, CLIENT_KILLED, Gate, Killed};
pub use http::{HttpAnswer, HttpLines, ask_http};
pub use http_client::HttpClient;
pub use listener::Listener;
pub use mysql::{MysqlWire, mysql_literal};
pub use postgres::{PostgresWire, ask_pooler, postgres_literal};
pub use primary::Primary;
pub(crate) use probe::info_field;
pub use route::{Guide, Route, Sentinels};
pub use scan::SentinelScan;
pub use sentinels::{Finder, Found, Named};
pub use shards::Shards;
pub use slot::{SLOTS, slot_of, slot_of_command};
pub use sql::{Answer, SqlClient, SqlWire, ask_sql};
pub use subscriptions::{Reach, Subscriptions, Wake};
pub use trail::{NoTrail, Recorded, Trail};
pub use wire::{Wire, WireError};
pub use zookeeper::{
    Ephemerals, Reply, Request, ZookeeperClient, change_of, children_of, four_letters, name_of,
    node_of, number_of, remove, remove_all,
};
