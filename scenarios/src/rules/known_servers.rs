//! The names that steps and faults may use: nodes, clients and groups of them.

use std::collections::BTreeSet;

use super::external;
use super::findings::Findings;
use crate::model::{External, FaultSpec, Topology, TopologyKind};
use crate::suggest::{one_of, suggest};

/// Groups that a cut may name, whatever the topology.
const GROUPS: [&str; 2] = ["nodes", "clients"];

/// The group that only a topology with replicas has.
const REPLICAS: &str = "replicas";

/// Between the name of one of several masters and the number of its replica.
const REPLICA_OF: &str = "-replica-";

/// The group that only a topology with sentinels has.
const SENTINELS: &str = "sentinels";

/// Words for nodes, whatever the topology.
const WORDS: [&str; 2] = ["one", "all"];

/// Less and more than half of independent nodes.
const PARTS: [&str; 2] = ["minority", "majority"];

/// Words for parts where no node is called so: a node that leads, which of a Cluster any master
/// does, and less and more than half.
const PARTS_WITH_A_LEADER: [&str; 3] = ["primary", "minority", "majority"];

/// Names with a meaning of their own in histories and reports.
const RESERVED: [&str; 3] = ["probe", "nemesis", "checker"];

/// The servers that a script or a storm plays on.
pub(crate) struct KnownServers {
    /// Topology that it is, or is like.
    kind: TopologyKind,
    /// The word for it.
    name: &'static str,
    /// The servers that someone else runs, if it is those.
    external: Option<External>,
    nodes: Vec<String>,
    /// True if some of them are replicas.
    replicated: bool,
}

impl KnownServers {
    pub(crate) fn new(topology: &Topology) -> Self {
        Self {
            kind: topology.alike(),
            name: topology.kind().name(),
            external: topology.external().cloned(),
            nodes: topology.nodes(),
            replicated: topology.has_replicas(),
        }
    }

    pub(crate) const fn kind(&self) -> TopologyKind {
        self.kind
    }

    /// Tells whether a replica can be promoted by hand.
    pub(crate) fn promotes(&self) -> bool {
        match self.kind {
            TopologyKind::Replicated => true,
            TopologyKind::Independent | TopologyKind::Mariadb | TopologyKind::Postgres => {
                self.replicated
            }
            TopologyKind::Single
            | TopologyKind::Sentinel
            | TopologyKind::Cluster
            | TopologyKind::Etcd
            | TopologyKind::Zookeeper
            | TopologyKind::Custom
            | TopologyKind::External => false,
        }
    }

    /// The nodes that take writes at first, where it is not the servers who decide.
    pub(crate) fn leaders(&self) -> BTreeSet<String> {
        let leads = |node: &&String| match self.kind {
            TopologyKind::Independent => !node.contains(REPLICA_OF),
            TopologyKind::Single
            | TopologyKind::Replicated
            | TopologyKind::Sentinel
            | TopologyKind::Cluster
            | TopologyKind::Etcd
            | TopologyKind::Zookeeper
            | TopologyKind::Mariadb
            | TopologyKind::Postgres
            | TopologyKind::Custom
            | TopologyKind::External => node.as_str() == "primary",
        };
        self.nodes.iter().filter(leads).cloned().collect()
    }

    /// Tells whether `node` comes in the place of `leader` when it is promoted.
    pub(crate) fn replaces(&self, node: &str, leader: &str) -> bool {
        let family = |node: &str| node.split(REPLICA_OF).next().map(str::to_owned);
        matches!(
            self.kind,
            TopologyKind::Replicated | TopologyKind::Mariadb | TopologyKind::Postgres
        ) || family(node) == family(leader)
    }

    pub(crate) const fn is_external(&self) -> bool {
        self.external.is_some()
    }

    /// Judges the name of a node, or a word for some.
    pub(crate) fn judge_node(&self, node: &str, path: &str, findings: &mut Findings<'_>) {
        let mut known: Vec<&str> = self.nodes.iter().map(String::as_str).collect();
        known.extend(self.words());
        known.extend(self.kinds_of_nodes());
        if !known.contains(&node) {
            let message = format!("there is no node '{node}' in topology.{}", self.name);
            findings.value(path, message, &suggest(node, &known));
        }
    }

    /// Judges a question to servers for a key: what is at `path` is about it.
    pub(crate) fn judge_question(&self, path: &str, findings: &mut Findings<'_>) {
        if self.kind == TopologyKind::Custom {
            let message = "nobody knows how to ask custom servers for a key";
            let help = "wait for the answer to a client, such as `expect = \"granted\"`";
            findings.key(path, message, help);
        }
    }

    /// The words for any nodes of this topology.
    fn words(&self) -> Vec<&str> {
        let parts = match self.kind {
            // Parts are counted of all nodes, and of masters with replicas they mean nothing.
            TopologyKind::Independent if self.replicated => &[],
            // Of custom ones nobody knows whether one leads.
            TopologyKind::Independent | TopologyKind::Custom => &PARTS[..],
            TopologyKind::Cluster | TopologyKind::Etcd | TopologyKind::Zookeeper => {
                &PARTS_WITH_A_LEADER[..]
            }
            TopologyKind::Single
            | TopologyKind::Replicated
            | TopologyKind::Sentinel
            | TopologyKind::Mariadb
            | TopologyKind::Postgres
            | TopologyKind::External => &[],
        };
        WORDS.iter().chain(parts).copied().collect()
    }

    /// Judges whether the fault at `path` can hit servers of this shape at all.
    pub(crate) fn judge_fault(&self, fault: &FaultSpec, path: &str, findings: &mut Findings<'_>) {
        if let Some(external) = &self.external
            && !external::judge_fault(external, fault, path, findings)
        {
            return;
        }
        let name = self.name;
        let system = self.kind.system();
        if let Some(reason) = fault.cannot_hit(system) {
            let message = format!("{} cannot hit servers of {}", fault.kind(), system.name());
            findings.key(path, message, reason);
            return;
        }
        if matches!(fault, FaultSpec::MigrateSlot(_)) && self.kind != TopologyKind::Cluster {
            let message = format!("{name} servers have no shards");
            findings.key(path, message, "migrate-slot needs topology.cluster");
        }
        let FaultSpec::Failover(failover) = fault else {
            return;
        };
        if !self.kind.has_replicas() {
            let message = format!("{name} servers have no replica that could take over");
            let help = "failover needs topology.replicated, sentinel or cluster";
            findings.key(path, message, help);
        }
        let modes = self.kind.failover_modes();
        if self.kind.has_replicas() && !modes.contains(&failover.mode) {
            let message = format!("{name} servers do not fail over in this mode");
            let words: Vec<&str> = modes.iter().map(|mode| mode.name()).collect();
            findings.value(&format!("{path}.mode"), message, &one_of(&words));
        }
    }

    /// The names of the nodes, in order.
    pub(crate) fn nodes(&self) -> &[String] {
        &self.nodes
    }

    /// Judges one end of a link.
    pub(crate) fn judge_place(
        &self,
        place: &str,
        clients: &BTreeSet<String>,
        path: &str,
        findings: &mut Findings<'_>,
    ) {
        let mut known = self.words();
        for group in self.groups() {
            known.push(group);
        }
        known.extend(self.nodes.iter().chain(clients).map(String::as_str));
        if !known.contains(&place) {
            let message = format!("there is no node, client or group '{place}'");
            findings.value(path, message, &suggest(place, &known));
        }
    }

    /// Judges the name that a script gives to a client.
    pub(crate) fn judge_client(&self, client: &str, path: &str, findings: &mut Findings<'_>) {
        let taken = self.nodes.iter().any(|node| node == client)
            || self.groups().any(|group| group == client);
        if client.is_empty() || taken || RESERVED.contains(&client) {
            let message = format!("a client cannot be called '{client}'");
            let help = "a name of its own, such as 'a', that no node, group or part of a run has";
            findings.value(path, message, help);
        }
    }

    fn groups(&self) -> impl Iterator<Item = &'static str> + use<> {
        GROUPS.into_iter().chain(self.kinds_of_nodes())
    }

    /// The words for all nodes of a kind, where there are such.
    fn kinds_of_nodes(&self) -> Vec<&'static str> {
        let replicas = self.replicated.then_some(REPLICAS);
        let sentinels = (self.kind == TopologyKind::Sentinel).then_some(SENTINELS);
        replicas.into_iter().chain(sentinels).collect()
    }
}
