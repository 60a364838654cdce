//! A server's memory is full, and it makes room by evicting a lock's key.
//!
//! The memory is limited to a little more than what is used, then filled with keys of our own that
//! expire later than locks do, until the lock's key is gone. Keys that a client or the clock
//! removes are no eviction: what proves one is that the server evicted more keys than are missing
//! of ours.

use std::time::Duration;

use async_trait::async_trait;
use lockstorm_scenarios as scenarios;
use tokio::time::Instant;

use super::table::{Among, Kind};
use crate::deployment::Deployment;
use crate::error::FaultError;
use crate::fault::{Ends, Evidence, Fault, Sighting};
use crate::probe::{live_processes, redis};
use crate::server::redis::{Redis, count, info, info_count};

impl Kind for scenarios::Evict {
    const ENDS: Ends = Ends::ByItself;
    const AMONG: Among = Among::Writable;

    fn fault(self) -> Box<dyn Fault> {
        Box::new(Evict {
            key: self.key.clone(),
            spec: self,
            before: None,
            fillers: Vec::new(),
            gone: false,
        })
    }
}

/// Room that is left above what is used: enough for what clients send.
const ROOM_BYTES: u64 = 1 << 20;

/// Size of one of our keys: few of them fill the room.
const FILLER_BYTES: usize = 64 << 10;

/// Our keys at most; the lock's key is one of some 16 that compete for the room, and the oldest
/// once a second has passed.
const FILLERS_MAX: usize = 20_000;

/// Time for which memory is filled at most: a lock that is renewed all the time may never be the
/// oldest.
const FILLED_WITHIN: Duration = Duration::from_secs(5);

/// Longer than any run takes until they are removed.
const FILLER_SECONDS: &str = "600";

struct Evict {
    spec: scenarios::Evict,
    /// The lock's key on the server.
    key: String,
    before: Option<Before>,
    /// The keys that were set to fill the memory.
    fillers: Vec<String>,
    /// True if the lock's key was seen to be gone.
    gone: bool,
}

/// How the server stood.
struct Before {
    maxmemory: String,
    policy: String,
    evicted: u64,
}

impl Evict {
    fn redis<'d>(&self, on: &'d dyn Deployment) -> Result<&'d dyn Redis, FaultError> {
        redis(on, &self.spec.node, "fill the memory of")
    }

    async fn fill(&mut self, redis: &dyn Redis) -> Result<(), FaultError> {
        let until = Instant::now() + FILLED_WITHIN;
        let text = "x".repeat(FILLER_BYTES);
        while self.fillers.len() < FILLERS_MAX && Instant::now() < until {
            let filler = beside(&self.key, self.fillers.len());
            let set = ["SET", &filler, &text, "EX", FILLER_SECONDS];
            redis.command(&set).await?;
            self.fillers.push(filler);
            if count(redis, &["EXISTS", &self.key]).await? == 0 {
                self.gone = true;
                return Ok(());
            }
        }
        Ok(())
    }

    /// Evicted keys that were none of ours. Counted before ours are, so that what is evicted in
    /// between counts as ours.
    async fn others_evicted(&self, on: &dyn Deployment) -> Result<u64, FaultError> {
        let before = self.before.as_ref().map_or(0, |before| before.evicted);
        let redis = self.redis(on)?;
        let evicted = info_count(redis, "stats", "evicted_keys").await? - before;
        let mut asked = vec!["EXISTS"];
        asked.extend(self.fillers.iter().map(String::as_str));
        let left = count(redis, &asked).await?;
        let ours = self.fillers.len() as u64 - left;
        Ok(evicted.saturating_sub(ours))
    }

    async fn undo(&mut self, redis: &dyn Redis) -> Result<(), FaultError> {
        if !self.fillers.is_empty() {
            let mut unlink = vec!["UNLINK"];
            unlink.extend(self.fillers.iter().map(String::as_str));
            redis.command(&unlink).await?;
            self.fillers.clear();
        }
        if let Some(before) = &self.before {
            limit(redis, &before.maxmemory, &before.policy).await?;
            self.before = None;
        }
        Ok(())
    }
}

async fn limit(redis: &dyn Redis, bytes: &str, policy: &str) -> Result<(), FaultError> {
    let set = [
        "CONFIG",
        "SET",
        "maxmemory",
        bytes,
        "maxmemory-policy",
        policy,
    ];
    redis.command(&set).await.map(|_| ())
}

/// The name of one of our keys: in a Cluster it belongs where the lock's key does.
fn beside(key: &str, number: usize) -> String {
    let tagged = if key.contains('{') {
        key.to_owned()
    } else {
        format!("{{{key}}}")
    };
    format!("lockstorm:filler:{tagged}:{number}")
}

#[async_trait]
impl Fault for Evict {
    async fn inject(&mut self, on: &dyn Deployment) -> Result<(), FaultError> {
        self.key = on.server_key(&self.spec.key);
        let node = self.spec.node.clone();
        live_processes(on, &node, "fill the memory of")?;
        let redis = self.redis(on)?;
        if !on.server(&node)?.has(&self.key).await? {
            return Err(FaultError::Node {
                action: "evict a key of",
                node,
                reason: format!("'{}' is not there", self.key),
            });
        }
        let before = Before {
            maxmemory: info(redis, "memory", "maxmemory").await?,
            policy: info(redis, "memory", "maxmemory_policy").await?,
            evicted: info_count(redis, "stats", "evicted_keys").await?,
        };
        let room = info_count(redis, "memory", "used_memory").await? + ROOM_BYTES;
        self.before = Some(before);
        limit(redis, &room.to_string(), self.spec.policy.name()).await?;
        if let Err(error) = self.fill(redis).await {
            // What is left behind otherwise would be a fault that nobody knows of.
            self.undo(redis).await?;
            return Err(error);
        }
        Ok(())
    }

    async fn observe(&mut self, on: &dyn Deployment) -> Sighting {
        if !self.gone {
            return Sighting::Never(format!("'{}' is still there", self.key));
        }
        match self.others_evicted(on).await {
            Ok(0) => Sighting::Never(format!("'{}' is gone, but not evicted", self.key)),
            Ok(evicted) => Sighting::seen(format!(
                "'{}' is gone; keys evicted beside {} of ours: {evicted}",
                self.key,
                self.fillers.len()
            )),
            Err(error) => Sighting::NotYet(error.to_string()),
        }
    }

    async fn heal(&mut self, on: &dyn Deployment) -> Result<Evidence, FaultError> {
        self.undo(self.redis(on)?).await?;
        Ok("there is room again; the key stays gone".into())
    }
}
