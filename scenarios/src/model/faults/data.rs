//! Faults of what a server holds: keys and scripts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::node_word::NodeTarget;

/// Parameters of [`FaultSpec::DeleteKey`](super::FaultSpec::DeleteKey).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct DeleteKey {
    /// The lock's key.
    pub key: String,
    /// On which server; absent means on the one that takes writes, or on every master.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeTarget>,
}
