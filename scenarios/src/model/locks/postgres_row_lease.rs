//! Options of `postgres-row-lease`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::options::{LockOptions, default_lease, third};
use crate::model::duration::DurationSpec;

/// Options of [`Lock::PostgresRowLease`](super::Lock::PostgresRowLease).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PostgresRowLease {
    /// Time for which a holder has the row, by the clock of the server.
    #[serde(default = "default_lease")]
    pub lease: DurationSpec,
    /// Extend the lease this often while the lock is held; absent means never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renew_every: Option<DurationSpec>,
}

impl LockOptions for PostgresRowLease {
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
}
