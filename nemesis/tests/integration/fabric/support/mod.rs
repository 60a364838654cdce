//! Tools that the tests of the fabric share: addresses of their own, real servers, a small client.

mod addresses;
mod client;
mod server;

use std::future::Future;
use std::time::Duration;

use tokio::time::{Instant, sleep};

pub(crate) use addresses::Addresses;
pub(crate) use client::{Client, Reply};
pub(crate) use server::{Server, redis_server};

/// Patience with a loaded machine; a condition that holds at all holds long before.
const WITHIN: Duration = Duration::from_secs(30);

/// Waits until a condition holds, and fails with `what` if it does not.
pub(crate) async fn eventually<F: Future<Output = bool>>(
    what: &str,
    mut condition: impl FnMut() -> F,
) {
    let until = Instant::now() + WITHIN;
    while !condition().await {
        assert!(Instant::now() < until, "not within {WITHIN:?}: {what}");
        sleep(Duration::from_millis(10)).await;
    }
}
