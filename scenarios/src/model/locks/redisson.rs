//! Options of Redisson's locks on a hash.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::options::{LockOptions, default_sync_timeout, default_threads, default_watchdog, watch};
use crate::model::duration::DurationSpec;
use crate::model::era::Era;
use crate::model::mutant::Mutant;
use crate::model::sync::Sync;

/// Options of Redisson's locks on a hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Redisson {
    /// Time to live of a grant; absent means that the watchdog keeps it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<DurationSpec>,
    /// Time to live that the watchdog sets, at a third of it (`lockWatchdogTimeout`).
    #[serde(default = "default_watchdog")]
    pub watchdog: DurationSpec,
    /// Replicas that must acknowledge (`checkLockSyncedSlaves`); absent means what its era does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync: Option<Sync>,
    /// Time that they may take (`slavesSyncTimeout`).
    #[serde(default = "default_sync_timeout")]
    pub sync_timeout: DurationSpec,
    /// The Redisson that it behaves like.
    #[serde(default)]
    pub era: Era,
    /// Number of clients that share one Redisson instance, each a thread of it (`RedissonClient`).
    #[serde(default = "default_threads")]
    pub threads: u32,
    /// A mistake to make on purpose, one of `lockstorm list mutants` for this lock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutant: Option<Mutant>,
}

impl Redisson {
    /// Replicas that must acknowledge a grant, chosen or by its era.
    pub fn synced(&self) -> Sync {
        self.sync.unwrap_or(self.era.sync())
    }

    /// Time to live that a grant gets.
    pub fn time_to_live(&self) -> DurationSpec {
        self.lease.unwrap_or(self.watchdog)
    }
}

impl LockOptions for Redisson {
    fn lease(&self) -> Option<DurationSpec> {
        Some(self.time_to_live())
    }

    fn renew_every(&self) -> Option<DurationSpec> {
        watch(self.lease, self.watchdog)
    }

    fn sync(&self) -> Option<Sync> {
        Some(self.synced())
    }

    fn era(&self) -> Option<Era> {
        Some(self.era)
    }

    fn threads(&self) -> u32 {
        self.threads
    }

    fn take_threads(&mut self, threads: u32) -> Result<(), &'static str> {
        self.threads = threads;
        Ok(())
    }

    fn take_lease(&mut self, lease: DurationSpec, renewed: bool) -> Result<(), &'static str> {
        if renewed {
            (self.lease, self.watchdog) = (None, lease);
        } else {
            self.lease = Some(lease);
        }
        Ok(())
    }

    fn limit_sync_timeout(&mut self, most: DurationSpec) {
        self.sync_timeout = self.sync_timeout.min(most);
    }

    fn mutant(&self) -> Option<Mutant> {
        self.mutant
    }

    fn mutant_mut(&mut self) -> Option<&mut Option<Mutant>> {
        Some(&mut self.mutant)
    }
}
