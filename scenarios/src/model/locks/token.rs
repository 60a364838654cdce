//! Options of `token` and `token-fenced`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::options::{LockOptions, default_lease, third};
use crate::model::duration::DurationSpec;
use crate::model::mutant::Mutant;

/// Options of [`Lock::Token`](super::Lock::Token) and of the same with fencing tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Token {
    /// Time to live of the key.
    #[serde(default = "default_lease")]
    pub lease: DurationSpec,
    /// Extend the lease this often while the lock is held; absent means never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renew_every: Option<DurationSpec>,
    /// A mistake to make on purpose, one of `lockstorm list mutants` for this lock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutant: Option<Mutant>,
}

impl LockOptions for Token {
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

    fn mutant(&self) -> Option<Mutant> {
        self.mutant
    }

    fn mutant_mut(&mut self) -> Option<&mut Option<Mutant>> {
        Some(&mut self.mutant)
    }
}
