//! Rules on the steps of a litmus: who and what exists, and in which state, when a step is taken.

use std::collections::{BTreeMap, BTreeSet};

use super::findings::Findings;
use super::known_servers::KnownServers;
use super::{fault, links};
use crate::draft::Draft;
use crate::model::{
    Acquire, Await, FaultKind, FaultSpec, Heal, KillClient, LAST_OF_MAJORITY, Link, NodeWord,
    PowerCut, Restart, Role, Step,
};
use crate::suggest::{nearest, one_of, suggest};

/// A client of which a step needs that it has something under way, and what is missing.
const NOTHING_UNDER_WAY: &str = "has nothing under way";
const BEGIN_FIRST: &str = "an acquire, a renewal or a release with `under-way = true` comes first";

/// Walks through the script.
pub(crate) fn judge(draft: &Draft, servers: Option<&KnownServers>, findings: &mut Findings<'_>) {
    let acquires: Vec<&Acquire> = draft
        .steps
        .iter()
        .flatten()
        .filter_map(acquire_of)
        .collect();
    // A step that could not be read may have been an acquire, unless its kind says otherwise.
    let kinds: Vec<&str> = Step::kinds().collect();
    let brings_no_client = |kind| nearest(kind, &kinds).is_some_and(|kind| kind != "acquire");
    let acquirer_is_known = |(n, step): (usize, &Option<Step>)| {
        step.is_some() || findings.keys(&format!("step.{n}")).all(brings_no_client)
    };
    let clients_known = draft.steps.iter().enumerate().all(acquirer_is_known);
    let mut script = Script {
        servers,
        findings,
        here: String::new(),
        sighted: true,
        clients_known,
        keys_known: draft.steps_whole,
        acquirers: acquires
            .iter()
            .map(|acquire| acquire.client.clone())
            .collect(),
        keys: acquires.iter().map(|acquire| acquire.key.clone()).collect(),
        clients: BTreeMap::new(),
        under_way: BTreeSet::new(),
        held: BTreeSet::new(),
        nodes: Nodes::default(),
        cuts: BTreeSet::new(),
        broken: BTreeSet::new(),
        leaders: servers.map_or(BTreeSet::new(), KnownServers::leaders),
    };
    for (n, step) in draft.steps.iter().enumerate() {
        match step {
            Some(step) => {
                script.here = format!("step.{n}.{}", step.kind());
                script.take(step);
            }
            None => script.sighted = false,
        }
    }
}

/// The acquire that a step is, if it is one.
pub(super) fn acquire_of(step: &Step) -> Option<&Acquire> {
    if let Step::Acquire(acquire) = step {
        Some(acquire)
    } else {
        None
    }
}

/// How a node or a client stands between two steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Running,
    Paused,
    Dead,
}

impl State {
    const fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Dead => "dead",
        }
    }
}

/// How the nodes stand.
#[derive(Default)]
struct Nodes {
    /// Those that are not running.
    states: BTreeMap<String, State>,
    /// True if some fault may have hit any of them, as it shows only when it is run.
    unknown: bool,
}

struct Script<'a, 'f> {
    servers: Option<&'a KnownServers>,
    findings: &'a mut Findings<'f>,
    /// Path of the step that is taken.
    here: String,
    /// True if all steps so far could be read, and so the states are known.
    sighted: bool,
    /// True if every acquire of the script could be read.
    clients_known: bool,
    /// True if the keys that steps name are known.
    keys_known: bool,
    /// Everyone who acquires anywhere in the script.
    acquirers: BTreeSet<String>,
    /// Every key that is acquired anywhere in the script.
    keys: BTreeSet<String>,
    /// Those who have acquired so far.
    clients: BTreeMap<String, State>,
    /// Those of whose requests the script has not awaited the answer.
    under_way: BTreeSet<String>,
    /// Those of whom a message is to be held.
    held: BTreeSet<String>,
    nodes: Nodes,
    cuts: BTreeSet<(String, String)>,
    /// The faults that were injected so far, by their words.
    broken: BTreeSet<&'static str>,
    /// The nodes that take writes, as the script says; none where the servers decide.
    leaders: BTreeSet<String>,
}

impl Script<'_, '_> {
    fn take(&mut self, step: &Step) {
        match step {
            Step::Acquire(acquire) => {
                self.acquire(&acquire.client);
                self.leave(&acquire.client, acquire.under_way);
            }
            Step::Renew(renew) => {
                self.act(&renew.client);
                self.key(&renew.key, "key");
                self.leave(&renew.client, renew.under_way);
            }
            Step::Release(release) => {
                self.act(&release.client);
                self.key(&release.key, "key");
                self.leave(&release.client, release.under_way);
            }
            Step::Cancel(cancel) => self.cancel(&cancel.client),
            Step::Work(work) => self.act(&work.client),
            Step::FindOrders(find) => {
                self.act(&find.client);
                self.key(&find.key, "key");
            }
            Step::CloseOrders(close) => {
                self.act(&close.client);
                self.key(&close.key, "key");
            }
            Step::Await(wait) => self.wait(wait),
            Step::Fault(fault) => self.fault(fault),
            Step::Heal(heal) => self.heal(heal),
        }
    }

    /// A request of which the script may not await the answer.
    fn leave(&mut self, client: &str, under_way: bool) {
        if under_way {
            self.under_way.insert(client.to_owned());
        }
    }

    /// A client gives up what it has under way.
    fn cancel(&mut self, client: &str) {
        if self.client(client) && !self.under_way.contains(client) {
            self.wrong_state("client", client, NOTHING_UNDER_WAY, BEGIN_FIRST);
        }
    }

    /// A fault: every name in it must mean something, and some leave what they hit in another
    /// state.
    fn fault(&mut self, fault: &FaultSpec) {
        if let Some(servers) = self.servers {
            servers.judge_fault(fault, &self.here, self.findings);
        }
        for named in fault.names() {
            match named.role {
                Role::Node => self.node(named.name, named.parameter),
                Role::Place => self.place(named.name, named.parameter),
                Role::Key => self.key(named.name, named.parameter),
                // What is to happen to a client may be said before its first step; judged below.
                Role::Client if matches!(fault, FaultSpec::KillClient(_)) => {}
                Role::Client if fault.message().is_some() => self.later(named.name),
                Role::Client
                    if matches!(fault, FaultSpec::PauseClient(_) | FaultSpec::KillThread(_)) =>
                {
                    self.act(named.name);
                }
                Role::Client => {
                    self.client(named.name);
                }
            }
        }
        if let Some(node) = fault.message().and_then(|point| point.node) {
            self.node_of_message(&node);
        }
        if let FaultSpec::HoldMessage(hold) = fault {
            self.held.insert(hold.client.clone());
        }
        links::judge(fault, &self.here, self.findings);
        fault::judge(fault, &self.here, self.findings);
        self.broken.insert(fault.kind().name());
        if let FaultSpec::Kill(kill) = fault {
            self.strike(&kill.node, State::Dead);
        } else if let FaultSpec::Pause(pause) = fault {
            self.strike(&pause.node, State::Paused);
        } else if let FaultSpec::Restart(Restart { node, .. })
        | FaultSpec::PowerCut(PowerCut { node }) = fault
        {
            for node in self.meant(node) {
                self.nodes.states.remove(&node);
            }
        } else if let FaultSpec::Cut(cut) = fault {
            self.cut(&cut.from, &cut.to);
        } else if let FaultSpec::Promote(promote) = fault {
            self.promote(&promote.node);
        } else if let FaultSpec::PauseClient(pause) = fault {
            self.clients.insert(pause.client.clone(), State::Paused);
        } else if let FaultSpec::KillThread(kill) = fault {
            self.clients.insert(kill.client.clone(), State::Dead);
        } else if let FaultSpec::KillClient(kill) = fault {
            self.kill_client(kill);
        }
    }

    /// A wait for one condition, of which it must be clear what it is about.
    fn wait(&mut self, wait: &Await) {
        let keys = [&wait.key_gone, &wait.key_there];
        let others = [&wait.failover_of, &wait.answer_to, &wait.held];
        if keys.into_iter().chain(others).flatten().count() != 1 {
            let help = "exactly one of 'key-gone', 'key-there', 'failover-of', 'answer-to' and \
                        'held'";
            self.findings
                .key(&self.here, "`await` must say what it waits for", help);
        }
        let failover = (&wait.failover_of, "failover-of");
        let names = ["key-gone", "key-there"];
        for (key, name) in keys.into_iter().zip(names).chain([failover]) {
            if let Some(key) = key {
                self.key_on_servers(key, name);
            }
        }
        if let Some(node) = &wait.node {
            self.node_of_wait(node, keys.into_iter().all(Option::is_none));
        }
        if let Some(client) = &wait.answer_to
            && !self.under_way.remove(client)
        {
            self.wrong_state("answer-to", client, NOTHING_UNDER_WAY, BEGIN_FIRST);
        }
        if let Some(client) = &wait.held
            && !self.held.contains(client)
        {
            let help = "a `hold-message` of this client comes first";
            self.wrong_state("held", client, "has no message that is to be held", help);
        }
    }

    /// The one server that a wait for a key is about.
    fn node_of_wait(&mut self, node: &str, no_key: bool) {
        let path = self.at("node");
        if no_key {
            let message = "`node` is only for a wait for a key";
            let help = "leave it out, or wait for 'key-gone' or 'key-there'";
            self.findings.key(&path, message, help);
        } else if NodeWord::read(node).is_some() && !self.is_node(node) {
            let message = format!("'{node}' is not the name of one server");
            self.findings.value(&path, message, "name one");
        } else {
            self.node(node, "node");
        }
    }

    fn heal(&mut self, heal: &Heal) {
        self.targets_of(heal);
        let word = heal.fault.as_str();
        match (word, &heal.node, &heal.client, heal.link()) {
            ("pause", Some(node), ..) => self.resume_node(node),
            ("pause-client", _, Some(client), _) => self.resume_client(client),
            ("cut", .., Some(link)) => self.heal_link(link),
            _ => self.heal_kind(word),
        }
    }

    /// Judges the names in a step that heals.
    fn targets_of(&mut self, heal: &Heal) {
        if let Some(node) = &heal.node {
            self.node(node, "node");
        }
        if let Some(client) = &heal.client {
            self.client(client);
        }
        for (place, end) in [(&heal.from, "from"), (&heal.to, "to")] {
            if let Some(place) = place {
                self.place(place, end);
            }
        }
        if heal.from.is_some() != heal.to.is_some() {
            let named = if heal.from.is_some() { "from" } else { "to" };
            let path = self.at(named);
            let message = "a link needs both `from` and `to`";
            self.findings.key(&path, message, "add the other end");
        }
        let has_link = heal.from.is_some() || heal.to.is_some();
        let named = [heal.node.is_some(), heal.client.is_some(), has_link];
        if named.into_iter().filter(|is_named| *is_named).count() > 1 {
            let path = self.at(if heal.client.is_some() {
                "client"
            } else {
                "node"
            });
            let message = "only one of a server, a client and a link may be given";
            self.findings.key(&path, message, "take two steps");
        }
    }

    fn resume_node(&mut self, node: &str) {
        for node in self.meant(node) {
            if self.nodes.states.remove(&node) != Some(State::Paused) {
                self.wrong_node(&node, "was not paused", "pause it first");
            }
        }
    }

    fn resume_client(&mut self, client: &str) {
        let known = self.clients.contains_key(client);
        let was = self.clients.insert(client.to_owned(), State::Running);
        if known && was != Some(State::Paused) {
            self.wrong_state("client", client, "was not paused", "pause it first");
        }
    }

    fn heal_link(&mut self, link: Link) {
        let name = link.name();
        if !self.cuts.remove(&(link.from, link.to)) {
            let help = "heal takes the same from and to as the cut that it ends";
            self.wrong_state("from", &name, "was not cut", help);
        }
    }

    fn heal_kind(&mut self, word: &str) {
        if !FaultKind::NAMES.contains(&word) {
            let path = self.at("fault");
            let message = format!("there is no fault '{word}'");
            self.findings
                .value(&path, message, &suggest(word, FaultKind::NAMES));
        } else if !self.broken.contains(word) {
            let help = "it takes the word of a step before it";
            self.wrong_state("fault", word, "was not injected", help);
        }
        match word {
            "cut" => self.cuts.clear(),
            "pause-client" => {
                for state in self.clients.values_mut() {
                    if *state == State::Paused {
                        *state = State::Running;
                    }
                }
            }
            "hold-message" => self.held.clear(),
            // Which nodes run again depends on what else was done to them.
            _ => self.nodes.unknown = true,
        }
    }

    fn at(&self, key: &str) -> String {
        format!("{}.{key}", self.here)
    }

    /// Something is not in the state that the step needs, as far as states are known.
    fn wrong_state(&mut self, key: &str, what: &str, state: &str, help: &str) {
        if self.sighted {
            let path = self.at(key);
            self.findings
                .value(&path, format!("'{what}' {state}"), help);
        }
    }

    fn acquire(&mut self, client: &str) {
        if self.clients.contains_key(client) {
            self.act(client);
            return;
        }
        if let Some(servers) = self.servers {
            servers.judge_client(client, &self.at("client"), self.findings);
        }
        self.clients.insert(client.to_owned(), State::Running);
    }

    /// A client does something: it must exist and run.
    fn act(&mut self, client: &str) {
        if !self.client(client) {
            return;
        }
        match self.clients.get(client).copied() {
            Some(state @ State::Paused) => {
                let state = format!("is {}", state.word());
                self.wrong_state("client", client, &state, "heal its pause-client first");
            }
            Some(state @ State::Dead) => {
                let help = "the dead do not come back: go on with another client";
                self.wrong_state("client", client, &format!("is {}", state.word()), help);
            }
            Some(State::Running) | None => {}
        }
    }

    /// Tells whether the client has come into being.
    fn client(&mut self, client: &str) -> bool {
        let known = self.clients.contains_key(client);
        if !known && self.clients_known {
            let message = if self.acquirers.contains(client) {
                format!("client '{client}' does not exist yet")
            } else {
                format!("there is no client '{client}'")
            };
            let names: Vec<&String> = self.clients.keys().collect();
            let words = suggest(client, &names);
            let help = format!("{words}; a client comes into being with its first acquire");
            let path = self.at("client");
            self.findings.value(&path, message, &help);
        }
        known
    }

    fn kill_client(&mut self, kill: &KillClient) {
        if kill.after_commands.is_none() {
            self.act(&kill.client);
            self.clients.insert(kill.client.clone(), State::Dead);
        } else {
            self.later(&kill.client);
        }
    }

    /// Something is to happen to a client, which may come into being only after this step.
    fn later(&mut self, client: &str) {
        if !self.acquirers.contains(client) && self.clients_known {
            let message = format!("there is no client '{client}'");
            let help = suggest(client, &self.acquirers);
            let path = self.at("client");
            self.findings.value(&path, message, &help);
        }
    }

    /// The one server that a message goes to or comes from.
    fn node_of_message(&mut self, node: &str) {
        if node == LAST_OF_MAJORITY {
            return;
        }
        let known = self.servers.map_or(&[][..], KnownServers::nodes);
        if !known.is_empty() && !self.is_node(node) {
            let path = self.at("node");
            let message = format!("'{node}' is not the name of one server");
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let help = format!("{}, or '{LAST_OF_MAJORITY}'", one_of(&known));
            self.findings.value(&path, message, &help);
        }
    }

    fn key(&mut self, key: &str, parameter: &str) {
        if self.keys_known && !self.keys.contains(key) {
            let message = format!("no step acquires the key '{key}'");
            let help = suggest(key, &self.keys);
            let path = self.at(parameter);
            self.findings.value(&path, message, &help);
        }
    }

    /// A key that servers are asked for.
    fn key_on_servers(&mut self, key: &str, parameter: &str) {
        if let Some(servers) = self.servers {
            servers.judge_question(&self.at(parameter), self.findings);
        }
        self.key(key, parameter);
    }

    fn node(&mut self, node: &str, parameter: &str) {
        if let Some(NodeWord::HolderOf(key)) = NodeWord::read(node) {
            self.key_on_servers(key, parameter);
        } else if let Some(servers) = self.servers {
            servers.judge_node(node, &self.at(parameter), self.findings);
        }
    }

    fn is_node(&self, name: &str) -> bool {
        let nodes = self.servers.map_or(&[][..], KnownServers::nodes);
        nodes.iter().any(|node| node == name)
    }

    /// The nodes that a name or a word stands for; none if that shows only when it is run.
    fn meant(&mut self, target: &str) -> Vec<String> {
        let all = self
            .servers
            .map_or(Vec::new(), |servers| servers.nodes().to_vec());
        if all.iter().any(|node| node == target) {
            return vec![target.to_owned()];
        }
        match NodeWord::read(target) {
            Some(NodeWord::All) => all,
            Some(NodeWord::Replicas) if !self.leaders.is_empty() && !self.nodes.unknown => {
                let is_replica = |node: &String| !self.leaders.contains(node) && !is_sentinel(node);
                all.into_iter().filter(is_replica).collect()
            }
            Some(NodeWord::Sentinels) => all.into_iter().filter(|node| is_sentinel(node)).collect(),
            Some(
                NodeWord::HolderOf(_)
                | NodeWord::Replicas
                | NodeWord::Primary
                | NodeWord::One
                | NodeWord::Minority
                | NodeWord::Majority,
            )
            | None => {
                self.nodes.unknown = true;
                Vec::new()
            }
        }
    }

    /// A node is not in the state that the step needs, as far as that is known.
    fn wrong_node(&mut self, node: &str, state: &str, help: &str) {
        if !self.nodes.unknown {
            self.wrong_state("node", node, state, help);
        }
    }

    /// A running node is killed or paused; a paused one can still be killed.
    fn strike(&mut self, target: &str, into: State) {
        for node in self.meant(target) {
            let was = self.nodes.states.insert(node.clone(), into);
            if let Some(was) = was.filter(|&was| was == into || was == State::Dead) {
                let state = format!("is {} already", was.word());
                self.wrong_node(&node, &state, "restart or heal it first");
            }
        }
    }

    fn promote(&mut self, node: &str) {
        // On external servers it was refused already.
        let Some(servers) = self.servers.filter(|servers| !servers.is_external()) else {
            return;
        };
        if !servers.promotes() {
            let message = format!(
                "{} servers have no replica to promote",
                servers.kind().name()
            );
            let help = "promote needs topology.replicated, or independent masters with replicas";
            self.findings.key(&self.here, message, help);
            return;
        }
        if !self.is_node(node) {
            self.nodes.unknown = true;
            return;
        }
        if self.leaders.contains(node) {
            let help = "promote a replica, such as 'replica-1'";
            self.wrong_state("node", node, "is the primary already", help);
        }
        if let Some(state) = self.nodes.states.get(node).copied() {
            let state = format!("is {}", state.word());
            self.wrong_node(node, &state, "restart or heal it first");
        }
        self.leaders
            .retain(|leader| !servers.replaces(node, leader));
        self.leaders.insert(node.to_owned());
    }

    fn cut(&mut self, from: &str, to: &str) {
        if from == to && !["nodes", "replicas", "sentinels"].contains(&from) {
            let path = self.at("to");
            self.findings
                .value(&path, "a link has two ends", "name another place");
        }
        if !self.cuts.insert((from.to_owned(), to.to_owned())) {
            let name = format!("{from}→{to}");
            self.wrong_state("from", &name, "is cut already", "heal it first");
        }
    }

    fn place(&mut self, place: &str, end: &str) {
        // A link may be cut before the client at its end has sent anything.
        if let Some(servers) = self.servers.filter(|_| self.clients_known) {
            let path = self.at(end);
            servers.judge_place(place, &self.acquirers, &path, self.findings);
        }
    }
}

/// By its name, for a script says nothing of what a node is.
fn is_sentinel(node: &str) -> bool {
    node.starts_with("sentinel-")
}
