//! Roles of each server over time as it took itself for them, and the times when it was not there.
//!
//! For: the lanes of servers. Known are the roles at the start, what the servers said of themselves
//! where somebody asked them (`--trace probe`), and the faults. Not for: guessing what a server
//! became that nobody asked.

use lockstorm_checker::history::{FaultPhase, FaultTarget};
use lockstorm_checker::verdict::FaultSummary;
use lockstorm_checker::{Digest, Nanos};
use lockstorm_scenarios::Absence;
use serde::Serialize;

use crate::hit::{absence, promoted};
use crate::inert::visible;
use crate::model::{Node, RunRecord};

/// Changes of one server that are embedded, the first of them: a lane of more is only noise.
const CHANGES_MAX: usize = 2_000;

/// The lane of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Server {
    name: String,
    /// From when on it was what, in order of time.
    roles: Vec<(u64, String)>,
    /// From when to when it was not there, and why; without an end where it stayed away.
    absences: Vec<(u64, Option<u64>, String)>,
}

/// The lanes of all servers of a run.
pub(super) fn servers(run: &RunRecord, digest: &Digest) -> Vec<Server> {
    let nodes = run.environment.nodes.iter();
    nodes.map(|node| server(node, run, digest)).collect()
}

fn server(node: &Node, run: &RunRecord, digest: &Digest) -> Server {
    let mut roles = vec![(Nanos(0), visible(&node.role).into_owned())];
    roles.extend(said(node, digest));
    roles.extend(promotions(node, &run.analysis.faults));
    roles.sort_by_key(|(at, _)| *at);
    roles.dedup_by(|next, before| next.1 == before.1);
    roles.truncate(CHANGES_MAX);
    Server {
        name: visible(&node.name).into_owned(),
        roles: roles.into_iter().map(|(at, role)| (at.0, role)).collect(),
        absences: absences(node, &run.analysis.faults),
    }
}

/// Returns the roles that it took itself for whenever somebody asked.
fn said<'a>(node: &'a Node, digest: &'a Digest) -> impl Iterator<Item = (Nanos, String)> + 'a {
    digest.asides.views.iter().filter_map(|view| {
        let mut nodes = view.note.nodes.iter();
        let own = nodes.find(|own| *own.node == *node.name)?;
        let role = own.role.as_deref()?;
        Some((view.time, visible(role).into_owned()))
    })
}

/// When it was made the primary.
fn promotions<'a>(
    node: &'a Node,
    faults: &'a [FaultSummary],
) -> impl Iterator<Item = (Nanos, String)> + 'a {
    let is_own = |fault: &&FaultSummary| promoted(fault).is_some_and(|own| **own == *node.name);
    let own = faults.iter().filter(is_own);
    own.filter_map(|fault| fault.at(FaultPhase::Observed))
        .map(|at| (at, "primary".to_owned()))
}

fn absences(node: &Node, faults: &[FaultSummary]) -> Vec<(u64, Option<u64>, String)> {
    let is_own = |fault: &&FaultSummary| match &fault.target {
        FaultTarget::Node(name) => **name == *node.name,
        FaultTarget::Client(_)
        | FaultTarget::Key { .. }
        | FaultTarget::Link { .. }
        | FaultTarget::Sides(_)
        | FaultTarget::Connections { .. }
        | FaultTarget::Words(_) => false,
    };
    let own = faults.iter().filter(is_own);
    own.filter_map(|fault| {
        let absence = absence(fault)?;
        let from = fault.at(FaultPhase::Injected)?;
        let back = match absence {
            Absence::UntilHealed(_) => fault.at(FaultPhase::Healed),
            Absence::UntilObserved(_) => fault.at(FaultPhase::Observed),
        };
        Some((from.0, back.map(|at| at.0), absence.word().to_owned()))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_failover_is_seen_on_the_lanes_of_both_servers() {
        let run = sample::failover_run();
        let servers = servers(&run, &sample::failover_digest());
        let of = |name: &str| servers.iter().find(|server| server.name == name).unwrap();
        let primary = of("primary");
        assert_eq!(
            primary.absences,
            [(1_201_000_000, Some(3_320_000_000), "dead".to_owned())]
        );
        assert_eq!(
            of("replica-1").roles,
            [
                (0, "replica".to_owned()),
                (1_410_000_000, "primary".to_owned())
            ]
        );
    }
}
