//! Servers on the command line: by their names, or those of a file.

use std::path::Path;

use anyhow::Error;
use lockstorm_scenarios::{Topology, TopologyKind, load};

use crate::usage_error::UsageError;

/// Returns the topologies that can be started.
pub(super) fn startable_topologies() -> impl Iterator<Item = TopologyKind> {
    let all = TopologyKind::ALL.into_iter();
    all.filter(|kind| !matches!(kind, TopologyKind::Custom | TopologyKind::External))
}

/// Reads the custom servers of a scenario file.
///
/// # Errors
/// When the file is wrong, or has no such servers.
pub(super) fn custom_servers(file: &Path) -> Result<Topology, Error> {
    let topology = load(file, &[])?.scenario.topology;
    let custom = topology.filter(|topology| topology.kind() == TopologyKind::Custom);
    custom.ok_or_else(|| {
        let text = format!(
            "--servers must be a scenario with topology.custom: {}",
            file.display()
        );
        UsageError(text).into()
    })
}

/// Reads the name of a topology that can be started.
pub(super) fn startable_topology(name: &str) -> Result<TopologyKind, String> {
    let known = startable_topologies().find(|kind| kind.name() == name);
    known.ok_or_else(|| {
        let names: Vec<&str> = startable_topologies().map(TopologyKind::name).collect();
        format!("must be one of {}", names.join(", "))
    })
}
