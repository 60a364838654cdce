//! Faults of a disk.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::kind::Absence;
use super::node_word::NodeTarget;
use super::parameters::{ExternalUse, FaultParameters};
use crate::model::duration::DurationSpec;
use crate::model::system::System;

/// Parameters of [`FaultSpec::PowerCut`](super::FaultSpec::PowerCut).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PowerCut {
    /// Name of the server.
    pub node: NodeTarget,
}

impl FaultParameters for PowerCut {
    const ABSENCE: Option<Absence> = Some(Absence::UntilObserved("restarting"));

    fn not_on(&self, _: System) -> Option<&'static str> {
        Some("only servers of Redis are started with the shim that faults disks")
    }

    fn on_external(&self) -> ExternalUse {
        ExternalUse::NO_PROCESS
    }

    fn needs_shim(&self) -> bool {
        true
    }
}

/// Parameters of [`FaultSpec::SlowFsync`](super::FaultSpec::SlowFsync).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SlowFsync {
    /// Name of the server.
    pub node: NodeTarget,
    /// Time for which each synchronisation waits before it begins.
    pub by: DurationSpec,
}

impl FaultParameters for SlowFsync {
    fn not_on(&self, _: System) -> Option<&'static str> {
        Some("only servers of Redis are started with the shim that faults disks")
    }

    fn on_external(&self) -> ExternalUse {
        ExternalUse::NO_PROCESS
    }

    fn needs_shim(&self) -> bool {
        true
    }
}
