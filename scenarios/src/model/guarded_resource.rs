//! Resource that the lock protects.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::duration::DurationSpec;

/// Resource that the holders of the lock work on, as `guarded-resource.<kind> = { ... }`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GuardedResource {
    /// Unpaid orders in a database: each is to be closed and its stock given back, once.
    Orders(Orders),
}

/// Parameters of [`GuardedResource::Orders`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Orders {
    /// Number of orders.
    pub count: u32,
    /// Each order is past its time this long after the one before; 0s means all from the start.
    pub due_every: DurationSpec,
    /// True if the database refuses a client that comes with a smaller fencing token than it has
    /// seen, or with the same as another.
    pub fenced: bool,
}

impl Default for Orders {
    fn default() -> Self {
        Self {
            count: 3,
            due_every: DurationSpec::default(),
            fenced: false,
        }
    }
}
