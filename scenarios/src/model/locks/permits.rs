//! Options of `redisson-permits`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::options::{LockOptions, default_lease, default_permits, default_sync_timeout};
use crate::model::duration::DurationSpec;
use crate::model::mutant::Mutant;

/// Options of [`Lock::RedissonPermits`](super::Lock::RedissonPermits).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Permits {
    /// Number of permits.
    #[serde(default = "default_permits")]
    pub permits: u32,
    /// After how long a permit may be taken back.
    #[serde(default = "default_lease")]
    pub lease: DurationSpec,
    /// Time that a replica may take to acknowledge (`slavesSyncTimeout`).
    #[serde(default = "default_sync_timeout")]
    pub sync_timeout: DurationSpec,
    /// A mistake to make on purpose, one of `lockstorm list mutants` for this lock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutant: Option<Mutant>,
}

impl LockOptions for Permits {
    fn lease(&self) -> Option<DurationSpec> {
        Some(self.lease)
    }

    fn permits(&self) -> u32 {
        self.permits
    }

    fn take_permits(&mut self, permits: u32) {
        self.permits = permits;
    }

    fn take_lease(&mut self, lease: DurationSpec, renewed: bool) -> Result<(), &'static str> {
        self.lease = lease;
        if renewed {
            return Err("it renews nothing");
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
