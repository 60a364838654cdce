//! Options of `token-wait`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::options::{LockOptions, OptionMistake, default_lease, default_sync_timeout, third};
use crate::model::duration::DurationSpec;
use crate::model::mutant::Mutant;

/// Options of [`Lock::TokenWait`](super::Lock::TokenWait).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TokenWait {
    /// Time to live of the key.
    #[serde(default = "default_lease")]
    pub lease: DurationSpec,
    /// Extend the lease this often while the lock is held; absent means never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renew_every: Option<DurationSpec>,
    /// Number of replicas that must acknowledge a grant; without them it is withdrawn.
    #[serde(default = "default_replicas")]
    pub replicas: u32,
    /// Time that they may take.
    #[serde(default = "default_sync_timeout")]
    pub sync_timeout: DurationSpec,
    /// A mistake to make on purpose, one of `lockstorm list mutants` for this lock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutant: Option<Mutant>,
}

impl LockOptions for TokenWait {
    fn lease(&self) -> Option<DurationSpec> {
        Some(self.lease)
    }

    fn renew_every(&self) -> Option<DurationSpec> {
        self.renew_every
    }

    fn take_lease(&mut self, lease: DurationSpec, renewed: bool) -> Result<(), &'static str> {
        self.lease = lease;
        self.renew_every = renewed.then(|| third(lease));
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

    fn mistakes(&self) -> Vec<OptionMistake> {
        let none = (self.replicas == 0).then(|| OptionMistake {
            option: "replicas",
            message: "`replicas` must be greater than 0".to_owned(),
            help: "take 1 or more, or the lock `token`",
        });
        none.into_iter().collect()
    }
}

const fn default_replicas() -> u32 {
    1
}
