//! Faults of a client.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::parameters::{ExternalUse, FaultParameters};

/// Parameters of [`FaultSpec::PauseClient`](super::FaultSpec::PauseClient).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PauseClient {
    /// Name of the client; in a storm also `one`.
    pub client: String,
}

impl FaultParameters for PauseClient {
    fn on_external(&self) -> ExternalUse {
        ExternalUse::Ours
    }
}

/// Parameters of [`FaultSpec::StallWatchdog`](super::FaultSpec::StallWatchdog).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct StallWatchdog {
    /// Name of the client; in a storm also `one`.
    pub client: String,
}

impl FaultParameters for StallWatchdog {
    fn on_external(&self) -> ExternalUse {
        ExternalUse::Ours
    }
}

/// Parameters of [`FaultSpec::KillThread`](super::FaultSpec::KillThread).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct KillThread {
    /// Name of the client.
    pub client: String,
}

impl FaultParameters for KillThread {
    fn on_external(&self) -> ExternalUse {
        ExternalUse::Ours
    }
}

/// Parameters of [`FaultSpec::KillClient`](super::FaultSpec::KillClient).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct KillClient {
    /// Name of the client; in a storm also `one`.
    pub client: String,
    /// Die once this many further commands were answered; absent means at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_commands: Option<u32>,
}

impl FaultParameters for KillClient {
    fn on_external(&self) -> ExternalUse {
        ExternalUse::Ours
    }
}
