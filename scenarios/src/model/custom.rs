//! Servers of a system that Lockstorm does not know: started by commands of the scenario's.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::duration::DurationSpec;

/// Parameters of [`Topology::Custom`](super::Topology::Custom).
///
/// A command is a program and its arguments, and no shell reads it. In each word `{host}` and
/// `{port}` stand for the address where the node must listen, `{data}` for its folder, `{node}`
/// for its name and `{n}` for its number, from 1 on. `{address}` is the address, with its port,
/// where clients and other nodes find it, and `{addresses}` those of all nodes, with commas between
/// them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Custom {
    /// Name of the system in reports, such as "mongodb".
    pub name: String,
    /// Number of servers.
    #[serde(default = "one")]
    pub nodes: u32,
    /// Command that is a server: it stays in the foreground until it is killed.
    pub start: Vec<String>,
    /// Command that ends with status 0 if the server at `{host}` and `{port}` answers a request.
    /// It proves that a server is ready, and that one is dead or paused.
    pub answers: Vec<String>,
    /// Command that prints the version in its first line, for reports.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub version: Vec<String>,
    /// Command that runs once before the first start of each node, to its end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prepare: Vec<String>,
    /// Command that runs once when all servers answer, to its end: it makes one system of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub join: Vec<String>,
    /// Time that a server may take from its start to its first answer.
    #[serde(default = "half_a_minute")]
    pub ready_within: DurationSpec,
    /// Time after the end of a lease within which the servers end it. Where it is not given, nobody
    /// is accused of what may come of a second more than the lease.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends_leases_within: Option<DurationSpec>,
}

const fn one() -> u32 {
    1
}

const fn half_a_minute() -> DurationSpec {
    DurationSpec::from_millis(30_000)
}

/// The first part of `word` that looks as if it stood for something, such as `{prot}`, and does
/// not. Braces around anything but letters, as in JSON, are what they are.
pub(crate) fn unknown_place(word: &str) -> Option<&str> {
    word.match_indices('{').find_map(|(from, _)| {
        let length = word[from..].find('}')?;
        let place = &word[from..=from + length];
        let letters = &place[1..length];
        let is_name = !letters.is_empty() && letters.chars().all(|c| c.is_ascii_lowercase());
        (is_name && !Custom::PLACES.contains(&place)).then_some(place)
    })
}

impl Custom {
    /// Words that stand for something in a command.
    pub const PLACES: [&'static str; 7] = [
        "{host}",
        "{port}",
        "{data}",
        "{node}",
        "{n}",
        "{address}",
        "{addresses}",
    ];

    /// Its commands by name, in the order in which they run.
    pub fn commands(&self) -> [(&'static str, &[String]); 5] {
        [
            ("prepare", &self.prepare),
            ("version", &self.version),
            ("start", &self.start),
            ("answers", &self.answers),
            ("join", &self.join),
        ]
    }
}
