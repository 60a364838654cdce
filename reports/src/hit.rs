//! The servers, clients and links that a fault hits, for the pictures of a run.
//!
//! For: drawing faults where they act, and for how long a server was away or led. Not for: judging;
//! a target that is only words hits nothing here and is named in words.

use lockstorm_checker::history::{FaultClass, FaultTarget, Name};
use lockstorm_checker::verdict::FaultSummary;
use lockstorm_scenarios::{Absence, FaultKind};

use crate::model::Node;

/// The word for every client.
pub(crate) const CLIENTS: &str = "clients";
/// Role of a server that follows another.
const REPLICA: &str = "replica";
/// Role of a server that watches others.
const SENTINEL: &str = "sentinel";
/// Links of one fault at the most; a partition of many clients is drawn by its first ones.
const LINKS_MAX: usize = 200;

/// Links of one fault that a small picture can show one by one.
const LINKS_APART_MAX: usize = 2;

/// Actors and links that a fault hits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hit {
    /// Servers and clients by name; [`CLIENTS`] stands for all clients.
    pub(crate) actors: Vec<String>,
    /// From whom to whom, by name.
    pub(crate) links: Vec<(String, String)>,
}

impl Hit {
    /// The hit of `fault`, where the run has these servers.
    pub(crate) fn of(fault: &FaultSummary, nodes: &[Node]) -> Self {
        match &fault.target {
            FaultTarget::Node(name) | FaultTarget::Words(name) => Self::of_servers(name, nodes),
            FaultTarget::Key {
                node: Some(node), ..
            } => Self::of_servers(node, nodes),
            FaultTarget::Key { node: None, .. } => Self::default(),
            FaultTarget::Client(client) => Self::of_actors(vec![client.to_string()]),
            FaultTarget::Link { from, to } => {
                Self::between(&each(from, nodes), &each(to, nodes), false)
            }
            FaultTarget::Sides(sides) => Self::parted(sides, nodes),
            FaultTarget::Connections { client, node } => {
                Self::between(&[client.to_string()], &words(node, nodes), true)
            }
        }
    }

    /// The servers that a word stands for, if it is one for servers of this run.
    fn of_servers(word: &str, nodes: &[Node]) -> Self {
        let mut named = words(word, nodes);
        named.retain(|name| nodes.iter().any(|node| node.name == *name));
        Self::of_actors(named)
    }

    /// Returns the hit for a small picture: a fault of many links that all meet in one actor hits
    /// that one.
    pub(crate) fn gathered(self) -> Self {
        let middle = self.middle().filter(|_| self.links.len() > LINKS_APART_MAX);
        match middle.map(str::to_owned) {
            Some(middle) => Self::of_actors(vec![middle]),
            None => self,
        }
    }

    /// The actor in which all links meet.
    fn middle(&self) -> Option<&str> {
        let (a, b) = self.links.first()?;
        let meets = |name: &&str| {
            let mut links = self.links.iter();
            links.all(|(from, to)| from == name || to == name)
        };
        [a.as_str(), b.as_str()].into_iter().find(meets)
    }

    fn of_actors(actors: Vec<String>) -> Self {
        Self {
            actors,
            links: Vec::new(),
        }
    }

    fn between(from: &[String], to: &[String], both_ways: bool) -> Self {
        let mut links = Vec::new();
        for a in from {
            for b in to.iter().filter(|b| *b != a) {
                links.push((a.clone(), b.clone()));
                if both_ways {
                    links.push((b.clone(), a.clone()));
                }
            }
        }
        links.truncate(LINKS_MAX);
        Self {
            actors: Vec::new(),
            links,
        }
    }

    /// Links between those of a partition who are on no side together.
    fn parted(sides: &[Vec<Name>], nodes: &[Node]) -> Self {
        let sides: Vec<Vec<String>> = sides.iter().map(|side| each(side, nodes)).collect();
        let names = |side: &Vec<String>| side.iter().map(|name| name.as_str().into()).collect();
        let target = FaultTarget::Sides(sides.iter().map(names).collect());
        let mut hit = Self::default();
        for (n, side) in sides.iter().enumerate() {
            for other in &sides[n + 1..] {
                let mut between = Self::between(side, other, true).links;
                between.retain(|(from, to)| target.parts(from, to));
                hit.links.extend(between);
            }
        }
        hit.links.truncate(LINKS_MAX);
        hit
    }
}

/// The names that each of several words stands for.
fn each(named: &[Name], nodes: &[Node]) -> Vec<String> {
    named.iter().flat_map(|word| words(word, nodes)).collect()
}

/// The names that a word stands for.
fn words(word: &str, nodes: &[Node]) -> Vec<String> {
    let with = |is: &dyn Fn(&Node) -> bool| {
        let chosen = nodes.iter().filter(|node| is(node));
        chosen.map(|node| node.name.clone()).collect()
    };
    match word.trim() {
        "all" | "nodes" => with(&|_| true),
        "replicas" => with(&|node| node.role == REPLICA),
        "sentinels" => with(&|node| node.role == SENTINEL),
        name => vec![name.to_owned()],
    }
}

/// How a server with this fault is away, if it is.
pub(crate) fn absence(fault: &FaultSummary) -> Option<Absence> {
    FaultKind::read(&fault.kind)?.absence()
}

/// The server that a fault puts in the primary's place.
pub(crate) fn promoted(fault: &FaultSummary) -> Option<&Name> {
    let is_promotion = fault.class == FaultClass::Promotion;
    fault.target.node().filter(|_| is_promotion)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn hit(kind: &str, target: &str) -> Hit {
        let run = sample::failover_run();
        let fault = sample::fault("F1", kind, target);
        Hit::of(&fault, &run.environment.nodes)
    }

    fn link(from: &str, to: &str) -> (String, String) {
        (from.to_owned(), to.to_owned())
    }

    #[test]
    fn a_server_a_client_and_a_word_for_servers_are_actors() {
        assert_eq!(hit("kill", "primary").actors, ["primary"]);
        assert_eq!(hit("pause-client", "a").actors, ["a"]);
        assert_eq!(hit("kill", "replicas").actors, ["replica-1"]);
        assert_eq!(hit("delete-key", "lock on primary").actors, ["primary"]);
    }

    #[test]
    fn a_link_has_a_direction_and_a_partition_has_both() {
        let cut = hit("cut", "primary→replicas");
        assert_eq!(cut.links, [link("primary", "replica-1")]);
        let partition = hit("partition", "primary,a | replica-1");
        assert_eq!(
            partition.links,
            [
                link("primary", "replica-1"),
                link("replica-1", "primary"),
                link("a", "replica-1"),
                link("replica-1", "a"),
            ]
        );
    }

    #[test]
    fn whoever_is_on_two_sides_of_a_partition_has_no_cut_link() {
        let bridge = hit("partition", "primary,a | a,replica-1");
        let ends = [link("primary", "replica-1"), link("replica-1", "primary")];
        assert_eq!(bridge.links, ends);
    }

    #[test]
    fn many_links_that_meet_in_one_actor_are_gathered_there() {
        let apart = hit("partition", "primary | replica-1");
        assert_eq!(apart.clone().gathered(), apart, "one link, both ways");
        let gathered = hit("partition", "primary | replica-1,a").gathered();
        assert_eq!(gathered.actors, ["primary"]);
        assert!(gathered.links.is_empty());
        let halves = hit("partition", "primary,a | replica-1,b");
        assert_eq!(halves.clone().gathered(), halves, "they meet nowhere");
    }

    #[test]
    fn closed_connections_are_those_of_a_client_to_a_server() {
        let closed = hit("kill-connections", "a on primary");
        assert_eq!(closed.links, [link("a", "primary"), link("primary", "a")]);
    }

    #[test]
    fn what_nobody_can_place_hits_nothing() {
        for (kind, target) in [
            ("delete-key", "primary→replica-1"),
            ("kill", "holder-of:lock"),
            ("delete-key", "lock"),
            ("delete-key", "lock on the moon"),
            ("kill", sample::HOSTILE),
        ] {
            assert_eq!(hit(kind, target), Hit::default(), "{kind} {target}");
        }
    }
}
