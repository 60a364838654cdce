//! The surroundings of a lock: connections, servers, shared state, chance.

use std::sync::Arc;

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

use super::shared_state::SharedState;
use crate::connection::{Dialer, Route};

/// Everything that a lock needs of its surroundings.
pub struct LockContext {
    /// Name of the client.
    pub client: String,
    /// Opens connections.
    pub dialer: Dialer,
    /// Servers to talk to.
    pub route: Arc<Route>,
    /// State that the client shares with others of its group; a new one is for it alone.
    pub shared: SharedState,
    /// Source of random values.
    pub rng: ChaCha8Rng,
}

/// Returns a value that no other client has: 16 random bytes in hexadecimal.
pub fn random_value(rng: &mut ChaCha8Rng) -> String {
    format!("{:032x}", rng.random::<u128>())
}
