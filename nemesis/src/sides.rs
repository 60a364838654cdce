//! The sides of a partition by its form.
//!
//! For: which names are on which side, as a function of the order of the names, so that a storm
//! that shuffles them parts them at random. Not for: the links between the sides.

use lockstorm_scenarios::PartitionForm;

/// Nodes and clients that can be parted.
pub(crate) struct Parts {
    /// The nodes.
    pub(crate) nodes: Vec<String>,
    /// Those of them that take writes.
    pub(crate) leaders: Vec<String>,
    /// The clients.
    pub(crate) clients: Vec<String>,
}

/// The sides. Two names may talk where some side has both; names on no side are not concerned.
/// With [`PartitionForm::IsolatePrimary`], so many of the `clients` are on the leader's side.
pub(crate) fn sides(form: PartitionForm, clients: u32, parts: &Parts) -> Vec<Vec<String>> {
    let nodes = &parts.nodes;
    let half = nodes.len() / 2;
    match form {
        PartitionForm::Halves => vec![nodes[..half].to_vec(), nodes[half..].to_vec()],
        PartitionForm::MajoritiesRing => {
            // Each sees so many neighbours on either hand that together they are a majority. Sides
            // of more than two would join those at their ends.
            let reach = half.div_ceil(2);
            let neighbours = |at: usize| (1..=reach).map(move |by| (at, (at + by) % nodes.len()));
            let pairs = (0..nodes.len()).flat_map(neighbours);
            pairs
                .map(|(one, other)| vec![nodes[one].clone(), nodes[other].clone()])
                .collect()
        }
        PartitionForm::Bridge => {
            let bridge = nodes[half..].first();
            let with_bridge = |side: &[String]| side.iter().chain(bridge).cloned().collect();
            let beyond = (half + 1).min(nodes.len());
            vec![with_bridge(&nodes[..half]), with_bridge(&nodes[beyond..])]
        }
        PartitionForm::IsolatePrimary => {
            let Some(leader) = parts.leaders.first() else {
                return Vec::new();
            };
            let with = parts.clients.len().min(clients as usize);
            let (near, far) = parts.clients.split_at(with);
            let others = nodes.iter().filter(|node| *node != leader);
            vec![
                std::iter::once(leader).chain(near).cloned().collect(),
                others.chain(far).cloned().collect(),
            ]
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn parts(nodes: usize) -> Parts {
        let nodes: Vec<String> = (1..=nodes).map(|n| format!("n{n}")).collect();
        Parts {
            leaders: nodes[..1].to_vec(),
            nodes,
            clients: vec!["a".to_owned(), "b".to_owned()],
        }
    }

    /// Returns the nodes that each node sees, itself included.
    fn views(form: PartitionForm, nodes: usize) -> Vec<BTreeSet<String>> {
        let parts = parts(nodes);
        let sides = sides(form, 0, &parts);
        let view = |node: &String| {
            let own = sides.iter().filter(|side| side.contains(node));
            own.flatten().cloned().chain([node.clone()]).collect()
        };
        parts.nodes.iter().map(view).collect()
    }

    #[test]
    fn in_a_ring_each_node_sees_a_majority_and_no_two_the_same() {
        for nodes in [5, 7, 9] {
            let views = views(PartitionForm::MajoritiesRing, nodes);
            assert!(views.iter().all(|view| view.len() > nodes / 2), "{views:?}");
            assert!(views.iter().all(|view| view.len() < nodes), "{views:?}");
            assert_eq!(views.iter().collect::<BTreeSet<_>>().len(), nodes);
        }
    }

    #[test]
    fn a_bridge_sees_all_and_every_other_its_own_half() {
        let views = views(PartitionForm::Bridge, 5);
        let sizes: Vec<usize> = views.iter().map(BTreeSet::len).collect();
        assert_eq!(sizes, [3, 3, 5, 3, 3]);
    }

    #[test]
    fn an_isolated_primary_keeps_some_of_the_clients() {
        let sides = sides(PartitionForm::IsolatePrimary, 1, &parts(3));
        assert_eq!(sides, [vec!["n1", "a"], vec!["n2", "n3", "b"]]);
    }
}
