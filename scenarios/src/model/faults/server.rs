//! Faults of a server's process.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::kind::Absence;
use super::node_word::NodeTarget;
use super::parameters::{ExternalUse, FaultParameters, NOT_KNOWN};
use crate::model::duration::DurationSpec;
use crate::model::external::Disturbance;
use crate::model::system::System;

/// Parameters of [`FaultSpec::Kill`](super::FaultSpec::Kill).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Kill {
    /// Name of the server.
    pub node: NodeTarget,
}

impl FaultParameters for Kill {
    const ABSENCE: Option<Absence> = Some(Absence::UntilHealed("dead"));

    fn on_external(&self) -> ExternalUse {
        ExternalUse::NO_PROCESS
    }
}

/// Parameters of [`FaultSpec::Stop`](super::FaultSpec::Stop).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Stop {
    /// Name of the server.
    pub node: NodeTarget,
}

impl FaultParameters for Stop {
    const ABSENCE: Option<Absence> = Some(Absence::UntilHealed("stopped"));

    fn on_external(&self) -> ExternalUse {
        ExternalUse::NO_PROCESS
    }
}

/// Parameters of [`FaultSpec::Restart`](super::FaultSpec::Restart).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Restart {
    /// Name of the server.
    pub node: NodeTarget,
    /// Data that it remembers.
    #[serde(default)]
    pub memory: Memory,
}

impl FaultParameters for Restart {
    const ABSENCE: Option<Absence> = Some(Absence::UntilObserved("restarting"));

    fn not_on(&self, system: System) -> Option<&'static str> {
        let help = match system {
            System::Redis | System::Zookeeper => return None,
            System::Etcd | System::Mariadb | System::Postgres => {
                "one that comes back without its data has to be removed and added again; leave \
                 `memory` out"
            }
            System::Custom => "nobody can tell whether it has forgotten; leave `memory` out",
        };
        (self.memory == Memory::Lost).then_some(help)
    }

    fn on_external(&self) -> ExternalUse {
        ExternalUse::NO_PROCESS
    }
}

/// Data that a restarted server remembers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Memory {
    /// Data that its persistence kept.
    #[default]
    Kept,
    /// Nothing: its files are removed before the start.
    Lost,
}

/// Parameters of [`FaultSpec::Pause`](super::FaultSpec::Pause).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Pause {
    /// Name of the server.
    pub node: NodeTarget,
}

impl FaultParameters for Pause {
    const ABSENCE: Option<Absence> = Some(Absence::UntilHealed("paused"));

    fn on_external(&self) -> ExternalUse {
        ExternalUse::NO_PROCESS
    }
}

/// Parameters of [`FaultSpec::Promote`](super::FaultSpec::Promote).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Promote {
    /// Name of the replica.
    pub node: NodeTarget,
}

impl FaultParameters for Promote {
    fn not_on(&self, system: System) -> Option<&'static str> {
        match system {
            System::Mariadb | System::Postgres => None,
            System::Custom => Some(NOT_KNOWN),
            System::Redis | System::Etcd | System::Zookeeper => {
                Some("kill or isolate the leader: the others elect another")
            }
        }
    }

    fn on_external(&self) -> ExternalUse {
        ExternalUse::Impossible(
            "it would leave two servers that both take writes",
            "failover has the servers themselves change places",
        )
    }
}

/// Parameters of [`FaultSpec::BusyScript`](super::FaultSpec::BusyScript).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct BusyScript {
    /// Name of the server.
    pub node: NodeTarget,
}

impl FaultParameters for BusyScript {
    const ABSENCE: Option<Absence> = Some(Absence::UntilHealed("busy"));

    fn not_on(&self, _: System) -> Option<&'static str> {
        Some("pause stops a server")
    }

    fn on_external(&self) -> ExternalUse {
        ExternalUse::Impossible(
            "others would be held up for as long as nobody can kill its script",
            "sleep holds a server up for a time that is known",
        )
    }
}

/// Parameters of [`FaultSpec::PauseCommands`](super::FaultSpec::PauseCommands).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PauseCommands {
    /// Name of the server.
    pub node: NodeTarget,
    /// For how long.
    #[serde(rename = "for")]
    pub length: DurationSpec,
    /// Commands that wait.
    #[serde(default)]
    pub which: PausedCommands,
}

impl FaultParameters for PauseCommands {
    const ABSENCE: Option<Absence> = Some(Absence::UntilHealed("putting commands off"));
    const COMMANDS: &'static [&'static str] = &["CLIENT PAUSE", "PUBLISH"];

    fn not_on(&self, _: System) -> Option<&'static str> {
        Some("pause stops a server")
    }

    fn on_external(&self) -> ExternalUse {
        ExternalUse::Felt(Disturbance::PauseCommands)
    }
}

/// Commands that a server puts off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PausedCommands {
    /// All.
    #[default]
    All,
    /// Those that may write, scripts included.
    Writes,
}

/// Parameters of [`FaultSpec::Sleep`](super::FaultSpec::Sleep).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Sleep {
    /// Name of the server.
    pub node: NodeTarget,
    /// For how long.
    #[serde(rename = "for")]
    pub length: DurationSpec,
}

impl FaultParameters for Sleep {
    const ABSENCE: Option<Absence> = Some(Absence::UntilHealed("asleep"));
    const COMMANDS: &'static [&'static str] = &["DEBUG"];

    fn not_on(&self, _: System) -> Option<&'static str> {
        Some("pause stops a server")
    }

    fn on_external(&self) -> ExternalUse {
        ExternalUse::Felt(Disturbance::Sleep)
    }
}
