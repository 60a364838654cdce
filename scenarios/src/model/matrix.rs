//! `[matrix]`: every combination of locks, topologies and scenarios is a cell of one comparison.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::locks::Lock;
use super::topology::Topology;

/// Rows are locks on topologies, columns are the hazards of the scenario files.
///
/// A combination is left out where the lock makes no sense on the topology, where the scenario
/// is written for another kind of topology, or where its `applies-to` leaves the lock out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Matrix {
    /// The locks.
    pub locks: Vec<Lock>,
    /// The topologies.
    pub topologies: Vec<Topology>,
    /// Scenario files, relative to this one. Empty: the steps or the storm of this file.
    #[serde(default)]
    pub scenarios: Vec<String>,
}
