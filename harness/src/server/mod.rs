//! Real servers: found, configured, started, proved ready, and gone after any exit.

mod access;
mod address;
mod binary;
mod cluster;
mod custom;
mod deployment;
mod ensemble;
mod etcd;
mod external;
mod family;
mod fleet;
mod independent;
mod machines;
mod mariadb;
mod node;
mod pooler;
mod postgres;
mod programs;
mod proof;
mod redis;
mod replicated;
mod role;
mod sentinel;
mod shape;
mod single;
mod software;
mod spares;
mod wires;
mod zookeeper;

pub use address::{AddressBlock, DEFAULT_PORT};
pub use binary::{
    Program, find_etcd, find_mariadb, find_pgbouncer, find_postgres, find_program, find_zookeeper,
};
pub use deployment::{ServerSettings, Servers};
pub use fleet::Fleet;
pub use node::Node;
pub use programs::{find_redis_for, versions_of};
pub use role::{DataRole, Role};
pub use spares::Spares;
pub use wires::Wiring;
