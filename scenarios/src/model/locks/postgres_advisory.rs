//! Options of `postgres-advisory`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::options::LockOptions;
use crate::model::duration::DurationSpec;

/// Options of [`Lock::PostgresAdvisory`](super::Lock::PostgresAdvisory).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PostgresAdvisory {
    /// Time after which the server ends a connection on which nothing is asked: its
    /// `idle_session_timeout`. Absent: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_timeout: Option<DurationSpec>,
}

impl LockOptions for PostgresAdvisory {
    fn lease(&self) -> Option<DurationSpec> {
        None
    }
}
