//! The fabric, first over plain sockets and then in front of real servers.
//!
//! Method: nothing waits for a fixed time. That bytes are held back is shown by the fabric's own
//! count of them together with an empty socket, while the opposite direction still carries data.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests: what cannot be set up has failed"
)]

mod cluster;
mod links;
mod plain_server;
mod replication;
mod sentinel;
mod support;
