//! The planned failover, by which the servers themselves change who takes writes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::node_word::NodeTarget;
use super::parameters::{ExternalUse, FaultParameters, NOT_KNOWN};
use crate::model::external::Disturbance;
use crate::model::system::System;

/// Parameters of [`FaultSpec::Failover`](super::FaultSpec::Failover).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Failover {
    /// Replica that takes over; of several, sentinels choose by themselves.
    pub node: NodeTarget,
    /// Servers that it asks.
    #[serde(default)]
    pub mode: FailoverMode,
}

impl FaultParameters for Failover {
    const COMMANDS: &'static [&'static str] = &["ROLE"];

    fn not_on(&self, system: System) -> Option<&'static str> {
        Some(match system {
            System::Mariadb | System::Postgres => "promote a replica: nobody else does",
            System::Custom => NOT_KNOWN,
            System::Redis | System::Etcd | System::Zookeeper => {
                "kill or isolate the leader: the others elect another"
            }
        })
    }

    fn on_external(&self) -> ExternalUse {
        ExternalUse::Felt(Disturbance::Failover)
    }
}

/// Servers that a replica asks before it takes over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FailoverMode {
    /// Its primary, which stops taking writes until the replica has them all. Sentinels, when they
    /// are asked, ask nobody: the primary learns of it when they tell it.
    #[default]
    Agreed,
    /// Not its primary: in a Cluster the other masters, else nobody.
    Force,
    /// Nobody.
    Takeover,
}

impl FailoverMode {
    /// The word used in scenario files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Agreed => "agreed",
            Self::Force => "force",
            Self::Takeover => "takeover",
        }
    }
}
