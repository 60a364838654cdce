//! A Cluster's slot moves to another shard while its keys are in use: marked as moving on both
//! sides, its keys moved, the slot given away. It may be left half-way; healing then finishes it.

use async_trait::async_trait;
use lockstorm_checker::history::FaultTarget;
use lockstorm_scenarios::{self as scenarios, Way};

use super::table::{Among, Kind};
use crate::deployment::Deployment;
use crate::error::FaultError;
use crate::fault::{Ends, Evidence, Fault, Sighting};
use crate::probe::redis;

/// Keys that move together.
const KEYS_AT_ONCE: &str = "100";
/// So many times as many keys may be in a slot: locks have few.
const ROUNDS_MAX: usize = 100;
/// Time that a server may take to hand keys over, in milliseconds.
const HAND_OVER_MS: &str = "2000";

impl Kind for scenarios::MigrateSlot {
    const ENDS: Ends = Ends::Healed;
    const AMONG: Among = Among::Writable;

    fn fault(self) -> Box<dyn Fault> {
        Box::new(MigrateSlot {
            spec: self,
            trip: None,
        })
    }
}

struct MigrateSlot {
    spec: scenarios::MigrateSlot,
    trip: Option<Trip>,
}

/// Which slot goes from where to where.
struct Trip {
    slot: String,
    from: Shard,
    to: Shard,
}

/// The master of a shard.
struct Shard {
    node: String,
    /// By which the servers know it.
    id: String,
}

impl MigrateSlot {
    /// From the shard that keeps the key to the one that is named, or else to any other.
    async fn plan(&self, on: &dyn Deployment) -> Result<Trip, FaultError> {
        let refuse = |node: &str, reason: &str| FaultError::Node {
            action: "move a slot to",
            node: node.to_owned(),
            reason: reason.to_owned(),
        };
        let key = on.server_key(&self.spec.key);
        let keepers = on.keepers(&key).await;
        let [from] = keepers.as_slice() else {
            return Err(refuse(&keepers.join(", "), "only a Cluster has slots"));
        };
        let leaders = on.writable().await;
        let to = match &self.spec.to {
            Some(to) if to == from => return Err(refuse(to, "it has the slot already")),
            Some(to) if !leaders.contains(to) => return Err(refuse(to, "it leads no shard")),
            Some(to) => to,
            None => (leaders.iter().find(|leader| *leader != from))
                .ok_or_else(|| refuse(from, "there is no other shard"))?,
        };
        Ok(Trip {
            slot: command(on, from, &["CLUSTER", "KEYSLOT", &key]).await?,
            from: Shard::of(on, from).await?,
            to: Shard::of(on, to).await?,
        })
    }
}

/// Sends one command to a server.
async fn command(on: &dyn Deployment, node: &str, args: &[&str]) -> Result<String, FaultError> {
    redis(on, node, "move a slot of")?.command(args).await
}

impl Shard {
    async fn of(on: &dyn Deployment, node: &str) -> Result<Self, FaultError> {
        Ok(Self {
            node: node.to_owned(),
            id: command(on, node, &["CLUSTER", "MYID"]).await?,
        })
    }
}

impl Trip {
    /// Tells one of the two, or any other, how the slot stands.
    async fn set(
        &self,
        on: &dyn Deployment,
        node: &str,
        how: &str,
        id: &str,
    ) -> Result<(), FaultError> {
        let set = ["CLUSTER", "SETSLOT", &self.slot, how, id];
        command(on, node, &set).await.map(|_| ())
    }

    /// Marks the slot as moving: from now on keys that are not there are asked for elsewhere.
    async fn open(&self, on: &dyn Deployment) -> Result<(), FaultError> {
        self.set(on, &self.to.node, "IMPORTING", &self.from.id)
            .await?;
        self.set(on, &self.from.node, "MIGRATING", &self.to.id)
            .await
    }

    /// Moves the keys, with the time that they have left.
    async fn carry(&self, on: &dyn Deployment) -> Result<(), FaultError> {
        let (host, port) = self.door(on).await?;
        for _ in 0..ROUNDS_MAX {
            let asked = ["CLUSTER", "GETKEYSINSLOT", &self.slot, KEYS_AT_ONCE];
            let keys = command(on, &self.from.node, &asked).await?;
            if keys.is_empty() {
                return Ok(());
            }
            let mut migrate = vec!["MIGRATE", &host, &port, "", "0", HAND_OVER_MS, "KEYS"];
            migrate.extend(keys.lines());
            // NOKEY, where they have all expired meanwhile, is as good.
            command(on, &self.from.node, &migrate).await?;
        }
        Err(FaultError::Node {
            action: "move a slot from",
            node: self.from.node.clone(),
            reason: format!("slot {} never gets empty", self.slot),
        })
    }

    /// Where the servers find the new shard.
    async fn door(&self, on: &dyn Deployment) -> Result<(String, String), FaultError> {
        let view = command(on, &self.from.node, &["CLUSTER", "NODES"]).await?;
        let line = view.lines().find(|line| line.starts_with(&self.to.id));
        let address = line.and_then(|line| line.split_whitespace().nth(1));
        let door = address.and_then(|address| address.split('@').next()?.rsplit_once(':'));
        let (host, port) = door.ok_or_else(|| FaultError::Node {
            action: "move a slot from",
            node: self.from.node.clone(),
            reason: format!("it does not know {}", self.to.node),
        })?;
        Ok((host.to_owned(), port.to_owned()))
    }

    /// Gives the slot away: the new shard first, so that somebody has it at any time.
    async fn close(&self, on: &dyn Deployment) -> Result<(), FaultError> {
        for node in [&self.to.node, &self.from.node] {
            self.set(on, node, "NODE", &self.to.id).await?;
        }
        Ok(())
    }

    /// As far as is asked for.
    async fn go(&self, on: &dyn Deployment, until: Way) -> Result<(), FaultError> {
        self.open(on).await?;
        match until {
            Way::Open => Ok(()),
            Way::Keys => self.carry(on).await,
            Way::Done => {
                self.carry(on).await?;
                self.close(on).await
            }
        }
    }

    /// Leaves the slot where it was, as far as the servers still answer.
    async fn forget(&self, on: &dyn Deployment) {
        for node in [&self.to.node, &self.from.node] {
            let set = ["CLUSTER", "SETSLOT", &self.slot, "STABLE"];
            // The failure that led here is the news.
            let _ = command(on, node, &set).await;
        }
    }

    /// Tells whether the server that gives it away holds the slot for moving.
    async fn is_open(&self, on: &dyn Deployment) -> Result<bool, FaultError> {
        let view = command(on, &self.from.node, &["CLUSTER", "NODES"]).await?;
        Ok(view.contains(&format!("[{}->-{}]", self.slot, self.to.id)))
    }

    async fn look(&self, on: &dyn Deployment, way: Way, key: &str) -> Result<Sighting, FaultError> {
        let slot = &self.slot;
        let (from, to) = (&self.from.node, &self.to.node);
        if way == Way::Done {
            let keepers = on.keepers(key).await;
            return Ok(if keepers.contains(to) {
                Sighting::seen(format!("slot {slot} is {to}'s, and was {from}'s"))
            } else {
                Sighting::NotYet(format!("slot {slot} is {}'s", keepers.join(", ")))
            });
        }
        if !self.is_open(on).await? {
            return Ok(Sighting::NotYet(format!(
                "{from} has slot {slot} for itself"
            )));
        }
        let count = command(on, from, &["CLUSTER", "COUNTKEYSINSLOT", slot]).await?;
        Ok(match way {
            Way::Keys if count != "0" => Sighting::NotYet(format!("{count} keys are still there")),
            Way::Open | Way::Keys | Way::Done => Sighting::seen(format!(
                "{from} says that slot {slot} moves to {to}, and has {count} keys of it left"
            )),
        })
    }
}

#[async_trait]
impl Fault for MigrateSlot {
    async fn inject(&mut self, on: &dyn Deployment) -> Result<(), FaultError> {
        let trip = self.plan(on).await?;
        let moved = trip.go(on, self.spec.until).await;
        if moved.is_err() {
            trip.forget(on).await;
        }
        self.trip = Some(trip);
        moved
    }

    async fn observe(&mut self, on: &dyn Deployment) -> Sighting {
        let trip = self.trip.as_ref().expect("observed after it was injected");
        let key = on.server_key(&self.spec.key);
        match trip.look(on, self.spec.until, &key).await {
            Ok(sighting) => sighting,
            Err(error) => Sighting::NotYet(error.to_string()),
        }
    }

    async fn heal(&mut self, on: &dyn Deployment) -> Result<Evidence, FaultError> {
        let Some(trip) = &self.trip else {
            return Ok("nothing was begun".into());
        };
        let (slot, to) = (&trip.slot, &trip.to.node);
        if !trip.is_open(on).await? {
            return Ok(format!("slot {slot} stays with {to}").into());
        }
        trip.carry(on).await?;
        trip.close(on).await?;
        Ok(format!("slot {slot} has come to {to}").into())
    }

    fn target(&self) -> Option<FaultTarget> {
        let trip = self.trip.as_ref()?;
        Some(FaultTarget::Key {
            key: self.spec.key.as_str().into(),
            node: Some(trip.to.node.as_str().into()),
        })
    }
}
