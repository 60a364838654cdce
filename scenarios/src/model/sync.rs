//! Replicas that must acknowledge a grant.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Replicas that must acknowledge a grant before it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sync {
    /// None is asked.
    Off,
    /// One is enough, as in Redisson from 3.18 on; without replicas none is needed.
    Any,
    /// Every one, as in Redisson 3.17.
    All,
}
