//! Options of `setnx`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::options::{LockOptions, OptionMistake, default_lease, third};
use crate::model::duration::DurationSpec;
use crate::model::mutant::Mutant;

/// Unit of EXPIRE: it counts whole seconds.
const EXPIRE_UNIT_MS: u64 = 1000;

/// Options of [`Lock::Setnx`](super::Lock::Setnx).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Setnx {
    /// Time to live set by the second command; whole seconds, for EXPIRE knows no smaller unit.
    #[serde(default = "default_lease")]
    pub lease: DurationSpec,
    /// Extend the lease this often while the lock is held; absent means never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renew_every: Option<DurationSpec>,
    /// A mistake to make on purpose, one of `lockstorm list mutants` for this lock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutant: Option<Mutant>,
}

impl LockOptions for Setnx {
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

    fn mistakes(&self) -> Vec<OptionMistake> {
        let lease = self.lease;
        let odd = !lease.as_millis().is_multiple_of(EXPIRE_UNIT_MS);
        let odd = odd.then(|| OptionMistake {
            option: "lease",
            message: format!("a lease of {lease} is no whole number of seconds"),
            help: "EXPIRE knows no smaller unit; take \"1s\" or \"2s\"",
        });
        odd.into_iter().collect()
    }
}
