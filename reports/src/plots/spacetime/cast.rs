//! Actors of the picture: the clients of the story, and the servers that they spoke to or that
//! faults hit.

use lockstorm_checker::Nanos;
use lockstorm_checker::history::FaultPhase;
use lockstorm_checker::verdict::FaultSummary;

use crate::closeup::{Deed, Turn};
use crate::hit::{CLIENTS, Hit, promoted};
use crate::model::Node;

/// Actors of one picture; more are not small.
const ACTORS_MAX: usize = 9;
/// Links of a fault that bring their servers into the picture.
const LINKS_MAX: usize = 4;
/// Where requests go when nobody knows to which server.
pub(super) const SERVERS: &str = "servers";

/// The actors from left to right: clients first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Cast {
    pub(super) clients: Vec<String>,
    pub(super) servers: Vec<String>,
    /// Actors that found no room.
    pub(super) left_out: usize,
}

/// To whom a request went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Addressee {
    pub(super) name: String,
    /// `false` where it is concluded and not recorded.
    pub(super) is_known: bool,
}

/// Knowledge of the servers and of the ways to them.
#[derive(Clone, Copy)]
pub(super) struct Servers<'a> {
    pub(super) nodes: &'a [Node],
    pub(super) turns: &'a [Turn],
    pub(super) faults: &'a [FaultSummary],
}

impl Servers<'_> {
    /// To whom a request went: to the server that answers it, where the reply names one.
    pub(super) fn addressee_of(&self, deed: &Deed) -> Addressee {
        match deed.by.as_ref().map(|by| by.0.as_slice()) {
            Some([giver]) => Addressee {
                name: giver.node.to_string(),
                is_known: true,
            },
            Some(_) | None => self.addressee(&deed.client, deed.sent),
        }
    }

    /// To whom `client` speaks at `time`: as its last turn says, or else to the primary of that
    /// time. Masters that know nothing of each other are asked all at once.
    pub(super) fn addressee(&self, client: &str, time: Nanos) -> Addressee {
        let mut own = self.turns.iter().filter(|turn| turn.client == client);
        let known = |name: &str| Addressee {
            name: name.to_owned(),
            is_known: true,
        };
        let before = own.clone().take_while(|turn| turn.time <= time).last();
        if let Some(turn) = before {
            return known(&turn.to);
        }
        if let Some(from) = own.next().and_then(|turn| turn.from.as_deref()) {
            return known(from);
        }
        match self.nodes {
            [only] => known(&only.name),
            _ => self.leader(time),
        }
    }

    /// The one server that takes writes at `time`, as far as faults and roles tell: nobody knows
    /// where sentinels may have put another in its place.
    fn leader(&self, time: Nanos) -> Addressee {
        let concluded = |name: &str| Addressee {
            name: name.to_owned(),
            is_known: false,
        };
        let mut primaries = self.nodes.iter().filter(|node| node.role == "primary");
        let (Some(first), None) = (primaries.next(), primaries.next()) else {
            return concluded(SERVERS);
        };
        if self.nodes.iter().any(|node| node.role == "sentinel") {
            return concluded(SERVERS);
        }
        let promoted = |fault: &FaultSummary| {
            let seen = fault.at(FaultPhase::Observed).filter(|seen| *seen <= time);
            promoted(fault).filter(|_| seen.is_some()).cloned()
        };
        match self.faults.iter().rev().find_map(promoted) {
            Some(last) => concluded(&last),
            None => concluded(&first.name),
        }
    }
}

impl Cast {
    /// The actors of these operations and faults.
    pub(super) fn of(around: &Servers, holders: &[&str], deeds: &[&Deed], hits: &[Hit]) -> Self {
        let mut clients: Vec<String> = Vec::new();
        let mut servers: Vec<String> = Vec::new();
        let asking = deeds.iter().map(|deed| deed.client.as_str());
        for client in holders.iter().copied().chain(asking) {
            add(&mut clients, client);
        }
        for deed in deeds {
            add(&mut servers, &around.addressee_of(deed).name);
        }
        for hit in hits {
            // Of a fault that parts many from many, only those are shown who speak anyway.
            let few = hit.links.iter().filter(|_| hit.links.len() <= LINKS_MAX);
            let ends = few.flat_map(|(from, to)| [from, to]);
            for name in hit.actors.iter().chain(ends) {
                if around.nodes.iter().any(|node| node.name == *name) {
                    add(&mut servers, name);
                }
            }
        }
        // As they stand in the topology, not as they came up.
        let place = |name: &String| around.nodes.iter().position(|node| node.name == *name);
        servers.sort_by_key(|name| place(name).unwrap_or(usize::MAX));
        let all = clients.len() + servers.len();
        clients.truncate(ACTORS_MAX / 2);
        servers.truncate(ACTORS_MAX - clients.len());
        Self {
            left_out: all - clients.len() - servers.len(),
            clients,
            servers,
        }
    }

    /// Number of lines.
    pub(super) fn len(&self) -> usize {
        self.clients.len() + self.servers.len()
    }

    /// The lines of `name`: all clients for the word that stands for them.
    pub(super) fn columns(&self, name: &str) -> Vec<usize> {
        if name == CLIENTS {
            return (0..self.clients.len()).collect();
        }
        let all = self.clients.iter().chain(&self.servers);
        let found = all.enumerate().filter(|(_, actor)| *actor == name);
        found.map(|(column, _)| column).collect()
    }

    /// The names, from left to right.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.clients.iter().chain(&self.servers).map(String::as_str)
    }
}

fn add(names: &mut Vec<String>, name: &str) {
    if !names.iter().any(|known| known == name) {
        names.push(name.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn without_a_turn_requests_are_concluded_to_go_to_the_primary_of_the_time() {
        let run = sample::failover_run();
        let around = Servers {
            nodes: &run.environment.nodes,
            turns: &[],
            faults: &run.analysis.faults,
        };
        let to = |ms| around.addressee("a", Nanos::from_millis(ms));
        assert_eq!(
            (to(1_000).name.as_str(), to(1_000).is_known),
            ("primary", false)
        );
        assert_eq!(to(1_500).name, "replica-1", "it was promoted at 1.410 s");
    }

    #[test]
    fn a_turn_says_where_its_client_was_before_and_after() {
        let run = sample::failover_run();
        let turn = Turn {
            time: Nanos::from_millis(2_000),
            client: "a".to_owned(),
            from: Some("primary".to_owned()),
            to: "replica-1".to_owned(),
        };
        let around = Servers {
            nodes: &run.environment.nodes,
            turns: &[turn],
            faults: &run.analysis.faults,
        };
        let to = |ms| around.addressee("a", Nanos::from_millis(ms));
        assert_eq!(
            (to(1_500).name.as_str(), to(1_500).is_known),
            ("primary", true)
        );
        assert_eq!(to(2_500).name, "replica-1");
    }

    #[test]
    fn where_sentinels_choose_the_primary_nothing_is_concluded() {
        let mut run = sample::failover_run();
        let mut sentinel = run.environment.nodes[1].clone();
        sentinel.role = "sentinel".to_owned();
        run.environment.nodes.push(sentinel);
        let around = Servers {
            nodes: &run.environment.nodes,
            turns: &[],
            faults: &run.analysis.faults,
        };
        assert_eq!(
            around.addressee("a", Nanos::from_millis(1_500)).name,
            SERVERS
        );
    }

    #[test]
    fn several_masters_are_asked_as_one() {
        let mut run = sample::failover_run();
        for node in &mut run.environment.nodes {
            node.role = "master".to_owned();
        }
        let around = Servers {
            nodes: &run.environment.nodes,
            turns: &[],
            faults: &[],
        };
        assert_eq!(around.addressee("a", Nanos(0)).name, SERVERS);
    }
}
