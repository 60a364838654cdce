//! Options of `postgres-advisory-xact`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::options::LockOptions;
use crate::model::duration::DurationSpec;

/// Options of [`Lock::PostgresAdvisoryXact`](super::Lock::PostgresAdvisoryXact).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PostgresAdvisoryXact {}

impl LockOptions for PostgresAdvisoryXact {
    fn lease(&self) -> Option<DurationSpec> {
        None
    }
}
