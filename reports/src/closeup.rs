//! History of the few operations that the findings of a run rest on, and of those that took part.
//!
//! For: the raw operations of a card, its space-time diagram, and the topology. Not for: the whole
//! run, which the trace has.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use lockstorm_checker::history::Givers;
use lockstorm_checker::verdict::Witness;
use lockstorm_checker::{Access, Action, Digest, Nanos, Operation, Outcome, OwnerId};

use crate::model::RunRecord;

/// Turns of clients that are kept, the first ones.
const TURNS_MAX: usize = 2_000;
/// Changes of role that are kept, the first ones.
const ROLES_MAX: usize = 2_000;

/// The close-up of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CloseUp {
    /// The operations that findings cite, in order of their invocation.
    pub(crate) deeds: Vec<Deed>,
    /// Turns of clients to other servers, in order of time.
    pub(crate) turns: Vec<Turn>,
    /// Roles that servers took themselves for, whenever that was new, in order of time.
    pub(crate) roles: Vec<RoleSeen>,
    /// Everybody who asked for a lock, by name.
    pub(crate) clients: Vec<String>,
}

/// One operation, as it stands in the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Deed {
    /// Index of its invocation.
    pub(crate) index: u64,
    /// Index of its completion, if it has one.
    pub(crate) completed: Option<u64>,
    pub(crate) client: String,
    pub(crate) process: u64,
    /// Request: `acquire`, `release`, `write 3`, ...
    pub(crate) asked: String,
    pub(crate) key: String,
    pub(crate) sent: Nanos,
    /// When it was answered, or given up.
    pub(crate) ended: Option<Nanos>,
    pub(crate) answer: Answer,
    pub(crate) lease: Option<Nanos>,
    pub(crate) token: Option<u64>,
    /// The servers that granted it, as far as the reply names them.
    pub(crate) by: Option<Givers>,
}

/// Outcome of an operation, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) text: String,
    /// True if a server said so; otherwise the outcome is indeterminate.
    pub(crate) is_known: bool,
}

/// A client turned to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) time: Nanos,
    pub(crate) client: String,
    pub(crate) from: Option<String>,
    pub(crate) to: String,
}

/// Role that a server took itself for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RoleSeen {
    pub(crate) time: Nanos,
    pub(crate) node: String,
    pub(crate) role: String,
}

impl CloseUp {
    /// The close-up of a run's findings.
    pub(crate) fn of(digest: &Digest, run: &RunRecord) -> Self {
        let judged = run.analysis.properties.values();
        let witnesses = judged.flat_map(|judgement| &judgement.witnesses);
        let cited: HashSet<u64> = witnesses.flat_map(cited).collect();
        let is_cited = |operation: &&Operation| {
            let completion = operation.completion.map(|completion| completion.index);
            cited.contains(&operation.invoke) || completion.is_some_and(|at| cited.contains(&at))
        };
        let operations = &digest.operations;
        let asking = operations.iter().filter(|o| o.action == Action::Acquire);
        let clients: BTreeSet<OwnerId> = asking.map(|operation| operation.owner).collect();
        let mut clients: Vec<String> = clients
            .into_iter()
            .map(|owner| digest.owner(owner).to_owned())
            .collect();
        // Names that end in numbers sort by the number: c2 before c10.
        clients.sort_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
        Self {
            deeds: operations
                .iter()
                .filter(is_cited)
                .map(|operation| Deed::of(operation, digest))
                .collect(),
            turns: turns(digest),
            roles: roles(digest),
            clients,
        }
    }

    /// The operations that a witness cites.
    pub(crate) fn deeds_of(&self, witness: &Witness) -> Vec<&Deed> {
        let cited: HashSet<u64> = cited(witness).collect();
        let is_cited = |deed: &&Deed| {
            let completed = deed.completed.is_some_and(|at| cited.contains(&at));
            cited.contains(&deed.index) || completed
        };
        self.deeds.iter().filter(is_cited).collect()
    }
}

/// The events that a witness cites.
fn cited(witness: &Witness) -> impl Iterator<Item = u64> {
    let steps = witness.story.iter().flat_map(|step| &step.evidence);
    let holders = witness.holders.iter();
    let held = holders.flat_map(|h| std::iter::once(h.op_acquire).chain(h.op_release));
    steps.copied().chain(held)
}

impl Deed {
    fn of(operation: &Operation, digest: &Digest) -> Self {
        Self {
            index: operation.invoke,
            completed: operation.completion.map(|completion| completion.index),
            client: digest.owner(operation.owner).to_owned(),
            process: operation.process,
            asked: asked(operation, digest),
            key: digest.key(operation.key).to_owned(),
            sent: operation.invoked,
            ended: operation.completion.map(|completion| completion.time),
            answer: answer(operation, digest),
            lease: operation.lease,
            token: operation.token,
            by: digest.givers(operation).cloned(),
        }
    }
}

fn asked(operation: &Operation, digest: &Digest) -> String {
    let word = match operation.action {
        Action::Acquire => "acquire",
        Action::Renew => "renew",
        Action::Release => "release",
        Action::Resource(Access::Read) => "read",
        Action::Resource(Access::Write) => "write",
        Action::Resource(Access::Cas) => "cas",
        Action::Resource(Access::Append) => "append",
        Action::Other => "other",
    };
    let value = digest.detail(operation).and_then(|detail| detail.asked);
    match value {
        Some(value) => format!("{word} {}", digest.value(value)),
        None => word.to_owned(),
    }
}

fn answer(operation: &Operation, digest: &Digest) -> Answer {
    let known = |text: &str| Answer {
        text: text.to_owned(),
        is_known: true,
    };
    match (operation.outcome, operation.action) {
        (Outcome::Ok, Action::Acquire) => known("granted"),
        (Outcome::Ok, Action::Renew) => known("renewed"),
        (Outcome::Ok, Action::Release) => known("released"),
        (Outcome::Ok, Action::Resource(_)) => {
            let value = digest.detail(operation).and_then(|detail| detail.replied);
            value.map_or_else(|| known("done"), |value| known(digest.value(value)))
        }
        (Outcome::Ok, Action::Other) => known("done"),
        (Outcome::Refused, _) => known("refused"),
        (Outcome::NotOwner, _) => known("not the owner"),
        (Outcome::Failed, _) => known("failed: never executed"),
        (Outcome::Unknown, _) => Answer {
            text: "no answer".to_owned(),
            is_known: false,
        },
    }
}

fn turns(digest: &Digest) -> Vec<Turn> {
    let routes = digest.asides.routes.iter().take(TURNS_MAX);
    routes
        .map(|route| Turn {
            time: route.time,
            client: route.owner.to_string(),
            from: route.note.from.as_deref().map(str::to_owned),
            to: route.note.to.to_string(),
        })
        .collect()
}

/// Returns the roles of servers whenever they were asked, each time that it was something new.
fn roles(digest: &Digest) -> Vec<RoleSeen> {
    let asides = &digest.asides;
    let viewed = asides.views.iter().flat_map(|view| {
        let seen = view.note.nodes.iter();
        seen.filter_map(|seen| Some((view.time, &seen.node, seen.role.as_ref()?)))
    });
    let became = asides
        .roles
        .iter()
        .map(|seen| (seen.time, &seen.note.node, &seen.note.role));
    let mut all: Vec<_> = viewed.chain(became).collect();
    all.sort_by_key(|&(time, _, _)| time);
    let mut last: BTreeMap<&str, &str> = BTreeMap::new();
    all.retain(|(_, node, role)| last.insert(node, role) != Some(role));
    let roles = all.into_iter().take(ROLES_MAX);
    roles
        .map(|(time, node, role)| RoleSeen {
            time,
            node: node.to_string(),
            role: role.to_string(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use lockstorm_checker::Property;

    use crate::sample;

    #[test]
    fn a_close_up_has_the_operations_that_findings_cite_and_no_others() {
        let close = sample::failover_closeup();
        let deeds: Vec<(u64, &str, &str, &str)> = close
            .deeds
            .iter()
            .map(|deed| {
                let (client, asked) = (deed.client.as_str(), deed.asked.as_str());
                (deed.index, client, asked, deed.answer.text.as_str())
            })
            .collect();
        assert_eq!(
            deeds,
            [
                (4, "a", "acquire", "granted"),
                (6, "c", "acquire", "refused"),
                (14, "b", "acquire", "granted"),
                (16, "a", "release", "not the owner"),
                (20, "b", "release", "released"),
            ]
        );
        assert_eq!(close.clients, ["a", "b", "c"]);
    }

    #[test]
    fn each_witness_has_its_own_operations() {
        let run = sample::failover_run();
        let close = sample::failover_closeup();
        let lost = &run.analysis.properties[&Property::LostLock].witnesses[0];
        let indexes: Vec<u64> = close.deeds_of(lost).iter().map(|d| d.index).collect();
        assert_eq!(
            indexes,
            [4, 14, 16],
            "the refusal of c is not of this story"
        );
    }
}
