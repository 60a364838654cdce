//! An operator empties a server.

use async_trait::async_trait;
use lockstorm_scenarios as scenarios;

use super::table::{Among, Kind};
use crate::deployment::Deployment;
use crate::error::FaultError;
use crate::fault::{Ends, Evidence, Fault, Sighting};
use crate::probe::{NOTHING_TO_UNDO, live_processes, redis};
use crate::server::redis::count;

impl Kind for scenarios::FlushAll {
    const ENDS: Ends = Ends::ByItself;
    const AMONG: Among = Among::Writable;

    fn fault(self) -> Box<dyn Fault> {
        let node = self.node;
        Box::new(FlushAll { node, removed: 0 })
    }
}

/// Counts and flushes in one step: under load there are new keys at once.
const COUNT_AND_FLUSH: &str =
    "local keys = redis.call('DBSIZE') redis.call('FLUSHALL') return keys - redis.call('DBSIZE')";

struct FlushAll {
    node: String,
    /// Number of keys that there were.
    removed: u64,
}

#[async_trait]
impl Fault for FlushAll {
    async fn inject(&mut self, on: &dyn Deployment) -> Result<(), FaultError> {
        live_processes(on, &self.node, "flush")?;
        let redis = redis(on, &self.node, "flush")?;
        self.removed = count(redis, &["EVAL", COUNT_AND_FLUSH, "0"]).await?;
        Ok(())
    }

    async fn observe(&mut self, _on: &dyn Deployment) -> Sighting {
        match self.removed {
            0 => Sighting::Never("there was no key to remove".to_owned()),
            keys => Sighting::seen(format!("DBSIZE fell by {keys} to 0")),
        }
    }

    async fn heal(&mut self, _on: &dyn Deployment) -> Result<Evidence, FaultError> {
        Ok(NOTHING_TO_UNDO.into())
    }
}
