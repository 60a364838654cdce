//! Options of `redisson-semaphore`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::options::{LockOptions, default_permits, default_sync_timeout};
use crate::model::duration::DurationSpec;
use crate::model::mutant::Mutant;
use crate::model::promise::Promise;

/// Options of [`Lock::RedissonSemaphore`](super::Lock::RedissonSemaphore).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Semaphore {
    /// Number of permits.
    #[serde(default = "default_permits")]
    pub permits: u32,
    /// Time that a replica may take to acknowledge (`slavesSyncTimeout`).
    #[serde(default = "default_sync_timeout")]
    pub sync_timeout: DurationSpec,
    /// A mistake to make on purpose, one of `lockstorm list mutants` for this lock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutant: Option<Mutant>,
}

impl LockOptions for Semaphore {
    fn permits(&self) -> u32 {
        self.permits
    }

    fn take_permits(&mut self, permits: u32) {
        self.permits = permits;
    }

    /// Anybody may give a permit back: the documentation of `RSemaphore` knows no owners.
    fn denies(&self) -> &[Promise] {
        &[Promise::OwnRelease]
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
