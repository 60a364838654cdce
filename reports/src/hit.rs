//! What a fault hits, read from the words of its target: servers, clients, links.
//!
//! For: drawing faults where they act. Not for: judging; a target that nobody can place, such as
//! a word that was resolved when the fault was injected, hits nothing here and is named in words.

use lockstorm_checker::verdict::FaultSummary;

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

/// What a fault hits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hit {
    /// Servers and clients by name; [`CLIENTS`] stands for all clients.
    pub(crate) actors: Vec<String>,
    /// From whom to whom, by name.
    pub(crate) links: Vec<(String, String)>,
}

impl Hit {
    /// What `fault` hits, where the run has these servers.
    pub(crate) fn of(fault: &FaultSummary, nodes: &[Node]) -> Self {
        let target = fault.target.as_str();
        if let Some((from, to)) = target.split_once('→') {
            return Self::between(&words(from, nodes), &words(to, nodes), false);
        }
        if target.contains(" | ") {
            return Self::parted(target, nodes);
        }
        // Such as `lock on n1`, or `a on primary` of connections.
        if let Some((what, place)) = target.rsplit_once(" on ") {
            let is_node = |name: &str| nodes.iter().any(|node| node.name == name);
            return match (fault.kind == "kill-connections", is_node(place)) {
                (true, true) => Self::between(&[what.to_owned()], &words(place, nodes), true),
                (false, true) => Self::of_actors(words(place, nodes)),
                (true | false, false) => Self::default(),
            };
        }
        if matches!(target, "all" | "replicas" | "sentinels" | "nodes")
            || nodes.iter().any(|node| node.name == target)
        {
            return Self::of_actors(words(target, nodes));
        }
        if is_of_clients(&fault.kind) {
            return Self::of_actors(vec![target.to_owned()]);
        }
        Self::default()
    }

    /// The same for a small picture: a fault of many links that all meet in one actor hits that
    /// one.
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

    /// Each side of a partition is a list; nothing passes from one to another.
    fn parted(target: &str, nodes: &[Node]) -> Self {
        let list = |side: &str| -> Vec<String> {
            side.split(',')
                .flat_map(|word| words(word, nodes))
                .collect()
        };
        let sides: Vec<Vec<String>> = target.split(" | ").map(list).collect();
        let mut hit = Self::default();
        for (n, side) in sides.iter().enumerate() {
            for other in &sides[n + 1..] {
                hit.links.extend(Self::between(side, other, true).links);
            }
        }
        hit.links.truncate(LINKS_MAX);
        hit
    }
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

/// Whether a fault of this kind hits a client, not a server.
fn is_of_clients(kind: &str) -> bool {
    matches!(
        kind,
        "pause-client" | "kill-client" | "kill-thread" | "stall-watchdog" | "clock"
    )
}

/// Whether a server with such a fault answers nobody.
pub(crate) fn is_absence(kind: &str) -> bool {
    matches!(
        kind,
        "kill" | "stop" | "pause" | "sleep" | "restart" | "power-cut"
    )
}

/// Whether a fault of this kind puts a replica in the primary's place.
pub(crate) fn is_promotion(kind: &str) -> bool {
    matches!(kind, "promote" | "failover")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn hit(kind: &str, target: &str) -> Hit {
        let run = sample::failover_run();
        let fault = FaultSummary {
            kind: kind.to_owned(),
            target: target.to_owned(),
            ..run.analysis.faults[0].clone()
        };
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
            ("kill", "holder-of:lock"),
            ("delete-key", "lock"),
            ("delete-key", "lock on the moon"),
            ("kill", sample::HOSTILE),
        ] {
            assert_eq!(hit(kind, target), Hit::default(), "{kind} {target}");
        }
    }
}
