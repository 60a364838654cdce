//! The kernel's network over plain sockets: what each rule does to real packets, and what it leaves
//! alone.
//!
//! Method: each test moves its own thread into a network of its own, so that they run side by side
//! on the same addresses; that takes root, or `unshare --map-root-user`, and is skipped loudly
//! without it. Nothing waits for a fixed time: that packets are dropped is shown by the network's
//! own count of them together with an empty socket.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests: what cannot be set up has failed"
)]

mod cuts;
mod packets;
mod slow_links;
mod stage;
