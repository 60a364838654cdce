//! Rules on a storm and its nemesis.

use std::collections::BTreeSet;

use super::findings::Findings;
use super::known_servers::KnownServers;
use super::{fault, links};
use crate::draft::Draft;
use crate::model::{Clients, DurationSpec, FaultSpec, NodeWord, Role, Storm};
use crate::suggest::one_of;

/// Ends that stand for several places, between which there are links.
const MANY: [&str; 6] = [
    "nodes",
    "replicas",
    "sentinels",
    "one",
    "minority",
    "majority",
];

/// Draws a client at random.
const ONE: &str = "one";

/// Judges the storm, if there is one, and its faults.
pub(crate) fn judge(draft: &Draft, servers: Option<&KnownServers>, findings: &mut Findings<'_>) {
    if let Some(storm) = &draft.storm
        && storm.duration == DurationSpec::default()
    {
        findings.value(
            "storm.duration",
            "`duration` must be greater than 0",
            "such as \"10s\"",
        );
    }
    if let Some(quiet) = draft.storm.as_ref().and_then(|storm| storm.quiet) {
        for (key, span) in [("every", quiet.every), ("lasts", quiet.lasts)] {
            if span == DurationSpec::default() {
                let path = format!("storm.quiet.{key}");
                findings.value(
                    &path,
                    format!("`{key}` must be greater than 0"),
                    "such as \"2s\"",
                );
            }
        }
    }
    if let (Some(storm), Some(clients)) = (&draft.storm, &draft.clients) {
        judge_rounds(storm, clients, findings);
    }
    for (n, entry) in draft.nemesis.iter().enumerate() {
        let Some(entry) = entry else { continue };
        let path = format!("nemesis.{n}");
        for (key, span) in [("every", entry.every), ("lasts", entry.lasts)] {
            if span == DurationSpec::default() {
                let message = format!("`{key}` must be greater than 0");
                findings.value(&format!("{path}.{key}"), message, "such as \"500ms\"");
            }
        }
        let fault = Fault {
            path: format!("{path}.fault.{}", entry.fault.kind()),
            servers,
            clients: draft.clients.as_ref(),
        };
        fault.judge(&entry.fault, findings);
    }
}

/// Judges how many rounds there are, and in how many of them the lock can be granted.
fn judge_rounds(storm: &Storm, clients: &Clients, findings: &mut Findings<'_>) {
    let Some(rounds) = storm.rounds else {
        if storm.grants.is_some() {
            let help = "add rounds = 1, or as many as each client is to do";
            findings.key("storm.grants", "`grants` needs `rounds`", help);
        }
        return;
    };
    if rounds == 0 {
        let help = "or leave it out";
        findings.value("storm.rounds", "`rounds` must be greater than 0", help);
        return;
    }
    let all = u64::from(rounds) * u64::from(clients.count);
    if let Some(grants) = storm.grants
        && u64::from(grants) > all
    {
        let message = format!("{grants} grants are more than the {all} rounds of all clients");
        findings.value("storm.grants", message, &format!("0 to {all}"));
    }
}

struct Fault<'a> {
    path: String,
    servers: Option<&'a KnownServers>,
    clients: Option<&'a Clients>,
}

impl Fault<'_> {
    fn judge(&self, fault: &FaultSpec, findings: &mut Findings<'_>) {
        fault::judge(fault, &self.path, findings);
        if matches!(fault, FaultSpec::Promote(_)) {
            findings.key(
                &self.path,
                "a storm cannot promote a replica: nothing undoes that",
                "promote in a litmus, as a step",
            );
            return;
        }
        if matches!(fault, FaultSpec::KillThread(_)) {
            findings.key(
                &self.path,
                "a storm cannot kill a thread: its lock would be kept to the end",
                "kill it in a litmus, as a step; a storm can kill or pause the client",
            );
            return;
        }
        if fault.message().is_some() {
            findings.key(
                &self.path,
                "a storm cannot pick a single message: nobody knows when it comes",
                "pick it in a litmus, as a step; a storm can delay or cut the link",
            );
            return;
        }
        if let Some(servers) = self.servers {
            servers.judge_fault(fault, &self.path, findings);
        }
        for named in fault.names() {
            match named.role {
                Role::Node => self.target(named.name, named.parameter, findings),
                Role::Place => self.place(named.name, named.parameter, findings),
                Role::Client => self.client(named.name, findings),
                Role::Key => self.key(named.name, named.parameter, findings),
            }
        }
        links::judge(fault, &self.path, findings);
        if let FaultSpec::Cut(cut) = fault
            && cut.from == cut.to
            && !MANY.contains(&cut.from.as_str())
        {
            findings.value(&self.at("to"), "a link has two ends", "name another place");
        }
    }

    fn at(&self, key: &str) -> String {
        format!("{}.{key}", self.path)
    }

    fn target(&self, node: &str, parameter: &str, findings: &mut Findings<'_>) {
        if let Some(NodeWord::HolderOf(key)) = NodeWord::read(node) {
            if let Some(servers) = self.servers {
                servers.judge_question(&self.at(parameter), findings);
            }
            self.key(key, parameter, findings);
        } else if let Some(servers) = self.servers {
            servers.judge_node(node, &self.at(parameter), findings);
        }
    }

    fn place(&self, place: &str, end: &str, findings: &mut Findings<'_>) {
        if let (Some(servers), Some(clients)) = (self.servers, self.clients) {
            let names: BTreeSet<String> = names("c", clients.count).into_iter().collect();
            servers.judge_place(place, &names, &self.at(end), findings);
        }
    }

    fn client(&self, client: &str, findings: &mut Findings<'_>) {
        let Some(clients) = self.clients else { return };
        let mut known = names("c", clients.count);
        known.insert(0, ONE.to_owned());
        if !known.iter().any(|name| name == client) {
            let message = format!("there is no client '{client}' in this storm");
            findings.value(&self.at("client"), message, &one_of(&known));
        }
    }

    fn key(&self, key: &str, parameter: &str, findings: &mut Findings<'_>) {
        let Some(clients) = self.clients else { return };
        let known = names("lock-", clients.keys);
        if !known.iter().any(|name| name == key) {
            let message = format!("no client of this storm uses the key '{key}'");
            findings.value(&self.at(parameter), message, &one_of(&known));
        }
    }
}

/// The names that a storm gives to its clients or keys.
pub(super) fn names(prefix: &str, count: u32) -> Vec<String> {
    (0..count.min(super::COUNT_MAX))
        .map(|n| format!("{prefix}{n}"))
        .collect()
}
