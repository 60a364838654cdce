//! A server forgets its scripts, as after a restart or a failover.

use async_trait::async_trait;
use lockstorm_scenarios as scenarios;

use super::table::{Among, Kind};
use crate::deployment::Deployment;
use crate::error::FaultError;
use crate::fault::{Ends, Evidence, Fault, Sighting};
use crate::probe::{NOTHING_TO_UNDO, live, redis};
use crate::server::redis::info_count;

impl Kind for scenarios::FlushScripts {
    const ENDS: Ends = Ends::ByItself;
    const AMONG: Among = Among::LiveWithData;

    fn fault(self) -> Box<dyn Fault> {
        Box::new(FlushScripts {
            node: self.node,
            cached: 0,
            witness: String::new(),
        })
    }
}

/// A script that no client sends: under load the others are back at once, this one is not.
const WITNESS: &str = "return 'lockstorm: nobody sends this'";

const ACTION: &str = "flush the scripts of";

struct FlushScripts {
    node: String,
    /// Number of scripts that the server knew, without the witness.
    cached: u64,
    /// Digest of the witness.
    witness: String,
}

#[async_trait]
impl Fault for FlushScripts {
    async fn inject(&mut self, on: &dyn Deployment) -> Result<(), FaultError> {
        live(on, &self.node, ACTION)?;
        let redis = redis(on, &self.node, ACTION)?;
        self.cached = info_count(redis, "memory", "number_of_cached_scripts").await?;
        self.witness = redis.command(&["SCRIPT", "LOAD", WITNESS]).await?;
        redis.command(&["SCRIPT", "FLUSH", "SYNC"]).await?;
        Ok(())
    }

    async fn observe(&mut self, on: &dyn Deployment) -> Sighting {
        if self.cached == 0 {
            return Sighting::Never("there was no script to forget".to_owned());
        }
        let exists = ["SCRIPT", "EXISTS", &self.witness];
        let asked = async { redis(on, &self.node, ACTION)?.command(&exists).await };
        match asked.await {
            Ok(known) if known == "0" => Sighting::seen(format!(
                "{} scripts are forgotten: SCRIPT EXISTS says 0 of one loaded just before",
                self.cached
            )),
            Ok(_) => Sighting::NotYet("it still knows its scripts".to_owned()),
            Err(error) => Sighting::NotYet(error.to_string()),
        }
    }

    async fn heal(&mut self, _on: &dyn Deployment) -> Result<Evidence, FaultError> {
        Ok(NOTHING_TO_UNDO.into())
    }
}
