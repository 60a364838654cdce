//! Rules on the servers.

use super::findings::Findings;
use crate::model::Topology;

/// Servers of one run at most: more say nothing new and outgrow a test machine.
const NODES_MAX: u32 = 31;

/// Judges the topology at `path`.
pub(crate) fn judge(topology: &Topology, path: &str, findings: &mut Findings<'_>) {
    if let Some((count, message, help)) = mistake(topology) {
        findings.value(&format!("{path}.{count}"), message, &help);
    }
}

/// Whether the number of servers is possible, and so their names mean something.
pub(crate) fn is_possible(topology: &Topology) -> bool {
    mistake(topology).is_none()
}

/// Path of the wrong number, message, help.
fn mistake(topology: &Topology) -> Option<(&'static str, String, String)> {
    let (path, wrong) = match topology {
        Topology::Single(_) => return None,
        Topology::Replicated(replicated) => {
            ("replicated.replicas", wrong_replicas(replicated.replicas))
        }
        Topology::Independent(independent) => ("independent.nodes", wrong_nodes(independent.nodes)),
    };
    wrong.map(|(message, help)| (path, message, help))
}

fn wrong_replicas(replicas: u32) -> Option<(String, String)> {
    match replicas {
        0 => Some((
            "a replicated topology needs a replica".to_owned(),
            "at least 1; a primary alone is `topology.single`".to_owned(),
        )),
        n if n >= NODES_MAX => Some((
            format!("{n} replicas are too many"),
            format!("at most {}", NODES_MAX - 1),
        )),
        _ => None,
    }
}

fn wrong_nodes(nodes: u32) -> Option<(String, String)> {
    match nodes {
        0 => Some((
            "a topology needs servers".to_owned(),
            "an odd number of nodes; five are usual".to_owned(),
        )),
        n if n % 2 == 0 => Some((
            format!("{n} independent nodes are an even number"),
            "take an odd number: one node less tolerates as many failures".to_owned(),
        )),
        n if n > NODES_MAX => Some((
            format!("{n} nodes are too many"),
            format!("at most {NODES_MAX}"),
        )),
        _ => None,
    }
}
