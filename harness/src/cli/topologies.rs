//! Names of servers on the command line.

use lockstorm_scenarios::TopologyKind;

/// Returns the topologies that can be started.
pub(super) fn startable_topologies() -> impl Iterator<Item = TopologyKind> {
    let all = TopologyKind::ALL.into_iter();
    all.filter(|kind| *kind != TopologyKind::External)
}

/// Reads the name of a topology that can be started.
pub(super) fn startable_topology(name: &str) -> Result<TopologyKind, String> {
    let known = startable_topologies().find(|kind| kind.name() == name);
    known.ok_or_else(|| {
        let names: Vec<&str> = startable_topologies().map(TopologyKind::name).collect();
        format!("must be one of {}", names.join(", "))
    })
}
