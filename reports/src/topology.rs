//! The servers and clients of a run over time: who was what, and which fault hit whom when.
//!
//! For: the picture of the topology, which shows what held in a stretch of the run. Not for:
//! judging. A role is what faults that took effect and the servers themselves said; nothing is
//! known of it where both are silent.

use std::collections::BTreeMap;

use lockstorm_checker::Nanos;
use lockstorm_checker::history::FaultPhase;
use lockstorm_checker::verdict::FaultSummary;

use crate::closeup::CloseUp;
use crate::hit::{CLIENTS, Hit, absence, promoted};
use crate::model::{Node, RunRecord};

/// Clients that have a box of their own; more become one box.
const CLIENTS_MAX: usize = 8;

/// From when to when something held; without an end, to the end of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) from: Nanos,
    pub(crate) to: Option<Nanos>,
    pub(crate) text: String,
}

/// A client or a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Actor {
    pub(crate) name: String,
    /// Roles over time; empty for a client.
    pub(crate) roles: Vec<Span>,
    /// The faults that hit it, in order of injection.
    pub(crate) faults: Vec<Span>,
    /// Time at which it answered nobody.
    pub(crate) absences: Vec<Span>,
}

/// A link between two actors, whichever of them speaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) ends: (String, String),
    pub(crate) kind: LinkKind,
    pub(crate) faults: Vec<Span>,
}

/// Kind of those who speak over a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkKind {
    /// A client and a server.
    Requests,
    /// A primary and its replica.
    Replication,
    /// A sentinel and the server it watches, or servers of a Cluster.
    Watch,
}

/// All of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Topology {
    /// Clients by name, or one for them all.
    pub(crate) clients: Vec<Actor>,
    /// Servers that take writes at the start, in their order.
    pub(crate) leaders: Vec<Actor>,
    /// Their followers, each with the position of its leader.
    pub(crate) followers: Vec<(usize, Actor)>,
    pub(crate) sentinels: Vec<Actor>,
    pub(crate) links: Vec<Link>,
    /// Faults that nobody can place.
    pub(crate) elsewhere: Vec<String>,
}

impl Topology {
    /// The topology of a run; of its clients only as far as its history is at hand.
    pub(crate) fn of(run: &RunRecord, close: Option<&CloseUp>) -> Self {
        let nodes = &run.environment.nodes;
        let known = close.map_or(&[][..], |close| &close.clients);
        let mut topology = Self {
            clients: clients(known),
            ..Self::default()
        };
        let is_leader = |node: &&Node| !matches!(node.role.as_str(), "replica" | "sentinel");
        let leaders: Vec<&Node> = nodes.iter().filter(is_leader).collect();
        for node in nodes {
            let actor = Actor {
                name: node.name.clone(),
                roles: roles(node, &run.analysis.faults, close),
                ..Actor::default()
            };
            match node.role.as_str() {
                "replica" => topology.followers.push((leader_of(node, &leaders), actor)),
                "sentinel" => topology.sentinels.push(actor),
                _ => topology.leaders.push(actor),
            }
        }
        topology.links = topology.base_links();
        let turns = close.map_or(&[][..], |close| &close.turns);
        for turn in turns {
            topology.add_way(&turn.client, &turn.to);
        }
        for fault in &run.analysis.faults {
            topology.place(fault, nodes);
        }
        topology
    }

    fn base_links(&self) -> Vec<Link> {
        let mut links = Vec::new();
        for client in &self.clients {
            let of = |leader: &Actor| Link::new(&client.name, &leader.name, LinkKind::Requests);
            links.extend(self.leaders.iter().map(of));
        }
        for (leader, follower) in &self.followers {
            let leader = self.leaders.get(*leader);
            let of =
                |leader: &Actor| Link::new(&leader.name, &follower.name, LinkKind::Replication);
            links.extend(leader.map(of));
        }
        for sentinel in &self.sentinels {
            let of = |leader: &Actor| Link::new(&sentinel.name, &leader.name, LinkKind::Watch);
            links.extend(self.leaders.iter().map(of));
        }
        links
    }

    /// A client turned to a server that it had not spoken to at the start.
    fn add_way(&mut self, client: &str, server: &str) {
        if !self.is_server(server) {
            return;
        }
        for client in self.names_of(client) {
            let link = Link::new(&client, server, LinkKind::Requests);
            if !self.links.iter().any(|known| known.ends == link.ends) {
                self.links.push(link);
            }
        }
    }

    /// Puts a fault where it hits.
    fn place(&mut self, fault: &FaultSummary, nodes: &[Node]) {
        let name = format!("{} {}", fault.id, fault.kind);
        let Some(span) = span_of(fault, name) else {
            return;
        };
        let hit = Hit::of(fault, nodes);
        let mut is_placed = false;
        for name in &hit.actors {
            if let Some(actor) = self.actor_mut(name) {
                if absence(fault).is_some() {
                    actor.absences.push(span.clone());
                }
                actor.faults.push(span.clone());
                is_placed = true;
            }
        }
        for (from, to) in &hit.links {
            for from in self.names_of(from) {
                for to in self.names_of(to) {
                    is_placed |= self.hit_link((&from, &to), &span);
                }
            }
        }
        if !is_placed {
            self.elsewhere
                .push(format!("{} {} {}", fault.id, fault.kind, fault.target));
        }
    }

    /// The boxes of a name: those of all clients for the word that stands for them.
    fn names_of(&self, name: &str) -> Vec<String> {
        if self.is_server(name) {
            return vec![name.to_owned()];
        }
        let is_own = |client: &&Actor| client.name == name || name == CLIENTS;
        let own: Vec<&Actor> = self.clients.iter().filter(is_own).collect();
        let boxes = if own.is_empty() {
            &self.clients[..]
        } else {
            &[]
        };
        // More clients than boxes are all in the one that there is.
        let shared = boxes.iter().filter(|_| boxes.len() == 1);
        own.into_iter()
            .chain(shared)
            .map(|client| client.name.clone())
            .collect()
    }

    fn is_server(&self, name: &str) -> bool {
        self.servers().any(|server| server.name == name)
    }

    fn servers(&self) -> impl Iterator<Item = &Actor> {
        let followers = self.followers.iter().map(|(_, follower)| follower);
        self.leaders.iter().chain(followers).chain(&self.sentinels)
    }

    fn actor_mut(&mut self, name: &str) -> Option<&mut Actor> {
        let shared = self.clients.len() == 1 && !self.is_server(name);
        let followers = self.followers.iter_mut().map(|(_, follower)| follower);
        let servers = self.leaders.iter_mut().chain(followers);
        let mut servers = servers.chain(&mut self.sentinels);
        if let Some(server) = servers.find(|server| server.name == name) {
            return Some(server);
        }
        let mut clients = self.clients.iter_mut();
        clients.find(|client| shared || client.name == name)
    }

    /// Puts a fault on a link; a link that carries nothing otherwise is drawn for it, except
    /// between those who never speak to each other: clients, and masters without replicas.
    fn hit_link(&mut self, (from, to): (&str, &str), span: &Span) -> bool {
        let joins = |link: &&mut Link| {
            let (a, b) = (link.ends.0.as_str(), link.ends.1.as_str());
            (a, b) == (from, to) || (a, b) == (to, from)
        };
        if let Some(link) = self.links.iter_mut().find(joins) {
            if !link.faults.contains(span) {
                link.faults.push(span.clone());
            }
            return true;
        }
        let is_leader = |name: &str| self.leaders.iter().any(|leader| leader.name == name);
        let are_masters = self.followers.is_empty() && is_leader(from) && is_leader(to);
        let are_clients = !self.is_server(from) && !self.is_server(to);
        if from == to || are_masters || are_clients {
            return false;
        }
        let kind = if self.is_server(from) && self.is_server(to) {
            LinkKind::Watch
        } else {
            LinkKind::Requests
        };
        let mut link = Link::new(from, to, kind);
        link.faults.push(span.clone());
        self.links.push(link);
        true
    }
}

impl Link {
    fn new(from: &str, to: &str, kind: LinkKind) -> Self {
        Self {
            ends: (from.to_owned(), to.to_owned()),
            kind,
            faults: Vec::new(),
        }
    }
}

/// A box for each client, or one for more than fit; one also where nobody knows them.
fn clients(known: &[String]) -> Vec<Actor> {
    let named = |name: String| Actor {
        name,
        ..Actor::default()
    };
    match known.len() {
        0 => vec![named(CLIENTS.to_owned())],
        1..=CLIENTS_MAX => known.iter().cloned().map(named).collect(),
        all => vec![named(format!("{all} {CLIENTS}"))],
    }
}

/// Position of the leader of a replica: by its name in a Cluster, else the only one.
fn leader_of(replica: &Node, leaders: &[&Node]) -> usize {
    let is_of = |leader: &&Node| {
        let rest = replica.name.strip_prefix(&leader.name);
        rest.is_some_and(|rest| rest.starts_with("-replica"))
    };
    leaders.iter().position(is_of).unwrap_or_default()
}

/// From where a fault took effect, or was injected, to where it was healed.
fn span_of(fault: &FaultSummary, text: String) -> Option<Span> {
    let from = fault
        .at(FaultPhase::Injected)
        .or(fault.at(FaultPhase::Observed))?;
    let healed = fault.at(FaultPhase::Healed);
    // A promotion is never undone; what lasts is the role.
    let to = if promoted(fault).is_some() {
        healed.or(fault.at(FaultPhase::Observed)).or(Some(from))
    } else {
        healed
    };
    Some(Span { from, to, text })
}

/// Returns the roles of a server: as at the start, until a promotion took effect or it said
/// otherwise.
fn roles(node: &Node, faults: &[FaultSummary], close: Option<&CloseUp>) -> Vec<Span> {
    let mut changes: BTreeMap<Nanos, &str> = BTreeMap::new();
    for fault in faults {
        let seen = fault.at(FaultPhase::Observed);
        let is_own = promoted(fault).is_some_and(|own| **own == *node.name);
        if let Some(seen) = seen.filter(|_| is_own) {
            changes.insert(seen, "primary");
        }
    }
    let said = close.map_or(&[][..], |close| &close.roles);
    for seen in said.iter().filter(|seen| seen.node == node.name) {
        changes.insert(seen.time, &seen.role);
    }
    let mut roles = vec![Span {
        from: Nanos(0),
        to: None,
        text: node.role.clone(),
    }];
    for (time, role) in changes {
        let last = roles.last_mut().expect("it begins with a role");
        if !is_same_role(&last.text, role) {
            last.to = Some(time);
            roles.push(Span {
                from: time,
                to: None,
                text: role.to_owned(),
            });
        }
    }
    roles
}

/// Servers call themselves primaries where there are several masters, too.
fn is_same_role(before: &str, after: &str) -> bool {
    let plain = |role: &str| role.replace("master", "primary");
    plain(before) == plain(after)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::closeup::{RoleSeen, Turn};
    use crate::sample;

    fn topology() -> Topology {
        Topology::of(&sample::failover_run(), Some(&sample::failover_closeup()))
    }

    fn words(spans: &[Span]) -> Vec<&str> {
        spans.iter().map(|span| span.text.as_str()).collect()
    }

    #[test]
    fn faults_are_on_the_servers_and_links_that_they_hit() {
        let topology = topology();
        assert_eq!(words(&topology.leaders[0].faults), ["F2 kill"]);
        assert_eq!(words(&topology.leaders[0].absences), ["F2 kill"]);
        let hit: Vec<(&str, &str, Vec<&str>)> = topology
            .links
            .iter()
            .filter(|link| !link.faults.is_empty())
            .map(|link| (&*link.ends.0, &*link.ends.1, words(&link.faults)))
            .collect();
        assert_eq!(hit, [("primary", "replica-1", vec!["F1 cut"])]);
        assert!(topology.elsewhere.is_empty());
    }

    #[test]
    fn a_promoted_replica_is_a_primary_from_then_on() {
        let roles = &topology().followers[0].1.roles;
        assert_eq!(words(roles), ["replica", "primary"]);
        assert_eq!(roles[0].to, Some(Nanos::from_millis(1_410)));
        assert_eq!(roles[1].to, None);
    }

    #[test]
    fn a_server_that_says_so_is_what_it_says() {
        let mut close = sample::failover_closeup();
        close.roles.push(RoleSeen {
            time: Nanos::from_millis(3_000),
            node: "primary".to_owned(),
            role: "replica".to_owned(),
        });
        let topology = Topology::of(&sample::failover_run(), Some(&close));
        assert_eq!(words(&topology.leaders[0].roles), ["primary", "replica"]);
    }

    #[test]
    fn a_client_that_turned_to_a_replica_has_a_link_to_it() {
        let mut close = sample::failover_closeup();
        let turn = Turn {
            time: Nanos::from_millis(1_500),
            client: "b".to_owned(),
            from: Some("primary".to_owned()),
            to: "replica-1".to_owned(),
        };
        close.turns = vec![turn.clone(), turn];
        let topology = Topology::of(&sample::failover_run(), Some(&close));
        let way = ("b".to_owned(), "replica-1".to_owned());
        let ways = topology.links.iter().filter(|link| link.ends == way);
        assert_eq!(ways.count(), 1);
    }

    #[test]
    fn many_clients_are_one_box_that_has_the_faults_of_each() {
        let mut run = sample::failover_run();
        sample::turn(&mut run.analysis.faults[1], "pause-client", "c3");
        sample::turn(&mut run.analysis.faults[0], "cut", "c7→primary");
        let mut close = sample::failover_closeup();
        close.clients = (0..50).map(|n| format!("c{n}")).collect();
        let topology = Topology::of(&run, Some(&close));
        assert_eq!(topology.clients.len(), 1);
        assert_eq!(topology.clients[0].name, "50 clients");
        assert_eq!(words(&topology.clients[0].faults), ["F2 pause-client"]);
        assert_eq!(words(&topology.links[0].faults), ["F1 cut"]);
    }

    #[test]
    fn masters_that_never_speak_have_no_link_to_be_cut() {
        let mut run = sample::failover_run();
        for (node, name) in run.environment.nodes.iter_mut().zip(["n1", "n2"]) {
            node.name = name.to_owned();
            node.role = "master".to_owned();
        }
        run.analysis.faults.truncate(1);
        sample::turn(&mut run.analysis.faults[0], "partition", "n1,a | n2,b,c");
        let topology = Topology::of(&run, Some(&sample::failover_closeup()));
        let hit = topology.links.iter().filter(|link| !link.faults.is_empty());
        let hit: Vec<(&str, &str)> = hit.map(|link| (&*link.ends.0, &*link.ends.1)).collect();
        let clients = [("a", "n2"), ("b", "n1"), ("c", "n1")];
        let between = [("a", "b"), ("a", "c")];
        assert!(clients.iter().all(|link| hit.contains(link)), "{hit:?}");
        assert!(!hit.contains(&("n1", "n2")), "{hit:?}");
        assert!(!between.iter().any(|link| hit.contains(link)), "{hit:?}");
    }

    #[test]
    fn a_fault_that_nobody_can_place_is_named_beside_the_picture() {
        let mut run = sample::failover_run();
        sample::turn(&mut run.analysis.faults[1], "kill", "holder-of:orders");
        let topology = Topology::of(&run, None);
        assert_eq!(topology.elsewhere, ["F2 kill holder-of:orders"]);
    }
}
