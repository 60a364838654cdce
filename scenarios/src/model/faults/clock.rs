//! Faults of a clock.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::node_word::NodeTarget;
use super::parameters::{ExternalUse, FaultParameters};
use crate::model::duration::DurationSpec;
use crate::model::system::System;

/// Parameters of [`FaultSpec::Clock`](super::FaultSpec::Clock): of a server or of a client.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Clock {
    /// Name of the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeTarget>,
    /// Name of the client, one that is a process; in a storm also `one`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// It jumps so far into the future.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forward: Option<DurationSpec>,
    /// It jumps so far into the past.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub back: Option<DurationSpec>,
    /// From then on it goes at this speed, in percent of the true one: 0 stands still.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<u32>,
}

impl FaultParameters for Clock {
    fn not_on(&self, _: System) -> Option<&'static str> {
        let help = "only servers of Redis are started with the shim that faults clocks; the clock \
                    of a client can be faulted";
        self.client.is_none().then_some(help)
    }

    fn on_external(&self) -> ExternalUse {
        if self.node.is_none() {
            ExternalUse::Ours
        } else {
            ExternalUse::NO_PROCESS
        }
    }

    fn needs_shim(&self) -> bool {
        self.node.is_some()
    }

    fn needs_shim_in_clients(&self) -> bool {
        self.client.is_some()
    }
}
