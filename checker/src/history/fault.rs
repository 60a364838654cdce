//! Faults as a history tells of them: the harm, the target and the stages, each as a value.
//!
//! For: the notes of the nemesis. Not for: what a fault does to a server; the scenarios name the
//! faults, and the nemesis injects them.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::event::Name;
use super::fault_words::{class_of_word, target_of_words};
use crate::inert::short;

/// A stage in the life of a fault. A fault that was never observed has proved nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FaultPhase {
    /// The nemesis set out to inject it.
    Requested,
    /// The injecting call returned.
    Injected,
    /// A probe saw its effect; the evidence says how.
    Observed,
    /// Its effect was undone, or had ended by itself.
    Healed,
}

/// The way in which a fault does harm.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum FaultClass {
    /// A process ends, or a thread of it.
    Death,
    /// A process, a timer or a disk stands still for a while.
    Stall,
    /// Nothing passes on a link, or its connections are closed.
    Cut,
    /// A link is slow, or its packets are lost or overtaken.
    Packet,
    /// A wall clock is wrong.
    Clock,
    /// Keys are removed from a server that lives on.
    Data,
    /// A server forgets the scripts that it was given.
    Scripts,
    /// Another server takes over as primary.
    Promotion,
    /// Keys move from one server to another.
    Migration,
    /// The history does not say.
    #[default]
    Other,
}

impl FaultClass {
    /// The class that was written, or that of a kind of fault of version 1, which wrote none.
    pub(crate) fn of_kind(written: Option<Self>, kind: &str) -> Self {
        written.unwrap_or_else(|| class_of_word(kind))
    }
}

/// The servers, clients, links or keys that a fault hits, by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultTarget {
    /// A server.
    Node(Name),
    /// A client.
    Client(Name),
    /// A lock's key.
    Key {
        /// The key.
        key: Name,
        /// The server that it is on, or moves to; absent means every server that keeps it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        node: Option<Name>,
    },
    /// The links from each of some servers and clients to each of others, one way.
    Link {
        /// Servers and clients that bytes come from.
        from: Vec<Name>,
        /// Servers and clients at which they should arrive.
        to: Vec<Name>,
    },
    /// Servers and clients of which two can talk only where some side has both.
    Sides(Vec<Vec<Name>>),
    /// The connections of a client to a server.
    Connections {
        /// The client.
        client: Name,
        /// The server.
        node: Name,
    },
    /// A target in words that nobody can take apart.
    Words(Name),
}

/// Names of one list that are written out; of a longer one the number of the others is given.
const NAMED_MAX: usize = 4;

impl fmt::Display for FaultTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written(&|name| short(name).into_owned()))
    }
}

impl FaultTarget {
    /// The target in words, each name as `name` writes it: `n1`, `a→n1,n2`, `a,n1 | n2`,
    /// `lock on n1`. Long lists are cut.
    pub fn written(&self, name: &dyn Fn(&str) -> String) -> String {
        let names = |all: &[Name]| names(all, name);
        match self {
            Self::Node(only) | Self::Client(only) | Self::Words(only) => name(only),
            Self::Key { key, node: None } => name(key),
            Self::Key {
                key,
                node: Some(node),
            } => format!("{} on {}", name(key), name(node)),
            Self::Link { from, to } => format!("{}→{}", names(from), names(to)),
            Self::Sides(sides) => {
                let sides: Vec<String> = sides.iter().map(|side| names(side)).collect();
                sides.join(" | ")
            }
            Self::Connections { client, node } => format!("{} on {}", name(client), name(node)),
        }
    }

    /// Tells whether it is empty words: a fault without a target.
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Words(words) if words.is_empty())
    }

    /// The one server that it is, or is on.
    pub fn node(&self) -> Option<&Name> {
        match self {
            Self::Node(node) | Self::Connections { node, .. } => Some(node),
            Self::Key { node, .. } => node.as_ref(),
            Self::Client(_) | Self::Link { .. } | Self::Sides(_) | Self::Words(_) => None,
        }
    }

    /// The one client that it is.
    pub fn client(&self) -> Option<&Name> {
        match self {
            Self::Client(client) | Self::Connections { client, .. } => Some(client),
            Self::Node(_)
            | Self::Key { .. }
            | Self::Link { .. }
            | Self::Sides(_)
            | Self::Words(_) => None,
        }
    }

    /// Tells whether nothing passes from `from` to `to` where every link of this target is cut.
    pub fn parts(&self, from: &str, to: &str) -> bool {
        let has = |names: &[Name], name: &str| names.iter().any(|one| **one == *name);
        match self {
            Self::Link {
                from: sources,
                to: sinks,
            } => has(sources, from) && has(sinks, to),
            Self::Sides(sides) => {
                let on = |name: &str| sides.iter().any(|side| has(side, name));
                let meet = sides.iter().any(|side| has(side, from) && has(side, to));
                on(from) && on(to) && !meet
            }
            Self::Connections { client, node } => {
                (**client == *from && **node == *to) || (**client == *to && **node == *from)
            }
            Self::Node(_) | Self::Client(_) | Self::Key { .. } | Self::Words(_) => false,
        }
    }
}

/// `a`, `a,b`, or `a,b,c,d and 52 more`.
fn names(all: &[Name], name: &dyn Fn(&str) -> String) -> String {
    let (named, rest) = all.split_at(all.len().min(NAMED_MAX));
    let named: Vec<String> = named.iter().map(|one| name(one)).collect();
    let named = named.join(",");
    if rest.is_empty() {
        named
    } else {
        format!("{named} and {} more", rest.len())
    }
}

/// Data that a server no longer had when it was back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DataLoss {
    /// Every key that it had: its persistence kept none.
    All,
    /// Every key that it had: its files were removed.
    Disk,
    /// So many bytes at the end of its files.
    Bytes(u64),
}

/// One event in the life of a fault: value of a `note` with function `fault`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "WrittenNote")]
pub struct FaultNote {
    /// Number of the fault in its run, such as `F1`; the same in all its notes.
    pub id: Name,
    /// The word of the fault in scenario files: `kill`, `pause`, `cut`, ...
    pub kind: Name,
    /// The way in which it does harm.
    pub class: FaultClass,
    /// Stage.
    pub phase: FaultPhase,
    /// Target that it hits. A word for several, such as `replicas`, stands for those that it meant
    /// when the fault was injected; in `requested` it may still be the word.
    pub target: FaultTarget,
    /// Observation in words; on `observed` the proof of the effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Name>,
    /// Of a clock: how far it was off when it was last looked at in this stage, ahead or (negative)
    /// behind, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset_ns: Option<i64>,
    /// Of a server that came back: what it had lost, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<DataLoss>,
}

/// A note as it is written: version 1 has a target in words, and no class.
#[derive(Deserialize)]
struct WrittenNote {
    id: Name,
    kind: Name,
    #[serde(default)]
    class: Option<FaultClass>,
    phase: FaultPhase,
    target: WrittenTarget,
    #[serde(default)]
    evidence: Option<Name>,
    #[serde(default)]
    offset_ns: Option<i64>,
    #[serde(default)]
    lost: Option<DataLoss>,
}

/// A target as any version writes it.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum WrittenTarget {
    /// Version 2.
    Typed(FaultTarget),
    /// Version 1.
    Words(Name),
}

impl WrittenTarget {
    /// The target of a fault of this kind.
    pub(crate) fn of_kind(self, kind: &str) -> FaultTarget {
        match self {
            Self::Typed(target) => target,
            Self::Words(words) => target_of_words(kind, &words),
        }
    }
}

impl From<WrittenNote> for FaultNote {
    fn from(written: WrittenNote) -> Self {
        Self {
            target: written.target.of_kind(&written.kind),
            class: FaultClass::of_kind(written.class, &written.kind),
            id: written.id,
            kind: written.kind,
            phase: written.phase,
            evidence: written.evidence,
            offset_ns: written.offset_ns,
            lost: written.lost,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(names: &[&str]) -> Vec<Name> {
        names.iter().map(|&name| name.into()).collect()
    }

    #[test]
    fn long_lists_are_cut_and_say_how_many_more_there_are() {
        let clients: Vec<String> = (0..56).map(|n| format!("c{n}")).collect();
        let clients: Vec<Name> = clients.iter().map(|name| name.as_str().into()).collect();
        let target = FaultTarget::Sides(vec![named(&["n1"]), clients]);
        assert_eq!(target.to_string(), "n1 | c0,c1,c2,c3 and 52 more");
    }

    #[test]
    fn a_link_parts_one_way_and_sides_part_both_unless_somebody_is_on_both() {
        let link = FaultTarget::Link {
            from: named(&["primary"]),
            to: named(&["replica-1", "replica-2"]),
        };
        assert!(link.parts("primary", "replica-2"));
        assert!(!link.parts("replica-2", "primary"));
        let sides = FaultTarget::Sides(vec![named(&["a", "bridge"]), named(&["bridge", "b"])]);
        assert!(sides.parts("a", "b") && sides.parts("b", "a"));
        assert!(!sides.parts("a", "bridge") && !sides.parts("bridge", "b"));
        assert!(!sides.parts("a", "stranger"));
    }

    #[test]
    fn a_note_is_written_with_values_and_read_back() {
        let note = FaultNote {
            id: "F1".into(),
            kind: "delete-key".into(),
            class: FaultClass::Data,
            phase: FaultPhase::Observed,
            target: FaultTarget::Key {
                key: "primary→replica-1".into(),
                node: Some("n1".into()),
            },
            evidence: None,
            offset_ns: None,
            lost: Some(DataLoss::Bytes(116)),
        };
        let text = serde_json::to_string(&note).unwrap();
        assert_eq!(
            text,
            concat!(
                r#"{"id":"F1","kind":"delete-key","class":"data","phase":"observed","#,
                r#""target":{"key":{"key":"primary→replica-1","node":"n1"}},"lost":{"bytes":116}}"#
            )
        );
        assert_eq!(serde_json::from_str::<FaultNote>(&text).unwrap(), note);
    }
}
