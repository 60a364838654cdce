//! A plan: what the clients do, and what goes wrong at which points.

use std::collections::BTreeMap;
use std::fmt;

use lockstorm_scenarios::Promise;
use serde::{Deserialize, Serialize};

use super::fault::Fault;
use super::point::Point;

/// Behaviour of the clients when nothing goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Base {
    /// One client takes the lock, extends it and gives it back while another waits for it; clients
    /// wait for the reply of a server for longer than anything lasts.
    Patient,
    /// As the patient ones, but clients give a server up after half a lease, and give the lock back
    /// even when they were refused.
    Impatient,
    /// A watchdog keeps the lock of the first client for two leases; clients are impatient.
    Renewed,
    /// Two clients wait for the lock, one behind the other.
    Queue,
    /// Three clients wait for the lock in line, and a newcomer is what comes in between.
    Line,
    /// Clients are threads that share an instance of the library, and none can be struck alone.
    Threads,
    /// A client takes the lock twice, and gives it back twice.
    Reentrant,
    /// Two clients read together, and a third one wants to write.
    Readers,
    /// Three clients read together, and one of them extends its lease; when those of the others
    /// are over, a fourth one wants to write.
    UnlikeReaders,
    /// Of two permits two clients take one each, and a third one wants one.
    Permits,
    /// A client takes both permits in one call.
    BothPermits,
}

impl Base {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Patient,
        Self::Impatient,
        Self::Renewed,
        Self::Queue,
        Self::Line,
        Self::Threads,
        Self::Reentrant,
        Self::Readers,
        Self::UnlikeReaders,
        Self::Permits,
        Self::BothPermits,
    ];

    /// The promise without which there is nothing to see with these clients.
    pub const fn needs(self) -> Option<Promise> {
        match self {
            Self::Patient | Self::Impatient | Self::Renewed | Self::Queue => None,
            Self::Line => Some(Promise::Fair),
            Self::Threads | Self::Reentrant => Some(Promise::Reentrant),
            Self::Readers | Self::UnlikeReaders => Some(Promise::SharedReaders),
            Self::Permits | Self::BothPermits => Some(Promise::Permits),
        }
    }

    /// Tells whether there is nothing to see with clients that cannot extend a lease.
    pub const fn needs_renewal(self) -> bool {
        matches!(self, Self::UnlikeReaders)
    }

    /// Tells whether a fault may show something with these clients that it does not show with
    /// others.
    pub const fn tries(self, fault: Fault) -> bool {
        match self {
            // Who is patient waits for a server that stands still.
            Self::Patient => !matches!(
                fault,
                Fault::StallWatchdog | Fault::ReleaseFirst | Fault::PauseNode
            ),
            // Nobody waits for what happens at once.
            Self::Impatient => {
                matches!(fault, Fault::Delay | Fault::Interleave | Fault::PauseNode)
            }
            Self::Renewed => !matches!(fault, Fault::Cancel),
            Self::Queue => matches!(fault, Fault::Lose | Fault::KillClient | Fault::Cancel),
            // All else is tried with two that wait.
            Self::Line => matches!(fault, Fault::Interleave),
            Self::Threads => false,
            // All else is tried with readers and permits that are taken one by one.
            Self::UnlikeReaders | Self::BothPermits => matches!(fault, Fault::Lose),
            Self::Reentrant | Self::Readers | Self::Permits => matches!(
                fault,
                Fault::Lose | Fault::Delay | Fault::Interleave | Fault::KillClient | Fault::Cancel
            ),
        }
    }

    /// Tells whether a client that was refused leaves the lock alone, so that what is stuck stays
    /// stuck.
    pub fn is_careful(self) -> bool {
        self != Self::Impatient
    }

    /// The words of reports.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Patient => "patient clients",
            Self::Impatient => "clients with a time-out",
            Self::Renewed => "a lock that is renewed",
            Self::Queue => "two that wait",
            Self::Line => "three that wait in line",
            Self::Threads => "threads of one instance",
            Self::Reentrant => "re-entry",
            Self::Readers => "readers and a writer",
            Self::UnlikeReaders => "readers of unlike leases and a writer",
            Self::Permits => "two permits",
            Self::BothPermits => "two permits in one call",
        }
    }
}

/// One fault at one point.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Placement {
    /// Where.
    pub point: Point,
    /// The fault.
    pub fault: Fault,
}

impl fmt::Display for Placement {
    /// `late: reply to SET of a's acquire, from n1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.fault.words(), self.point)
    }
}

/// Behaviour of the clients, and all that goes wrong.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Plan {
    /// Behaviour of the clients.
    pub base: Base,
    /// Faults at their points, in the order of the points in the survey.
    pub placements: Vec<Placement>,
}

impl Plan {
    /// Numbers servers that are alike in the order in which they come.
    #[must_use]
    pub fn canonical(&self, nodes: &[String]) -> Self {
        let mut names: BTreeMap<String, String> = BTreeMap::new();
        let mut plan = self.clone();
        for placement in &mut plan.placements {
            let next = nodes.get(names.len());
            let Some(node) = &mut placement.point.node else {
                continue;
            };
            let name = names.entry(node.clone());
            let name = name.or_insert_with(|| next.cloned().unwrap_or_default());
            node.clone_from(name);
        }
        plan
    }

    /// How plain it is, the plainest first: few faults, and those that take the least to happen.
    pub fn plainness(&self) -> (usize, Vec<Fault>, Base) {
        let mut faults: Vec<Fault> = self.placements.iter().map(|one| one.fault).collect();
        faults.sort_unstable();
        (faults.len(), faults, self.base)
    }

    /// Names what it shares with plans that differ only in which of equal servers, which of many
    /// messages and which clients' patience they are about.
    pub fn family(&self) -> Vec<String> {
        let mut family: Vec<String> = self.placements.iter().map(Placement::family).collect();
        family.sort();
        family
    }

    /// Tells whether it is of two faults, of which the first one only prepares the second.
    pub fn is_prepared(&self) -> bool {
        match self.placements.as_slice() {
            [first, second] => first.fault.prepares(second.fault),
            _ => false,
        }
    }

    /// Its faults, wherever they are.
    pub fn faults(&self) -> Vec<Fault> {
        let mut faults: Vec<Fault> = self.placements.iter().map(|one| one.fault).collect();
        faults.sort_unstable();
        faults
    }
}

impl Placement {
    /// Names what it is about, whichever server and message it is.
    pub fn family(&self) -> String {
        format!("{}: {}", self.fault.words(), self.point.kind())
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let placements: Vec<String> = self.placements.iter().map(Placement::to_string).collect();
        let what = if placements.is_empty() {
            "nothing goes wrong".to_owned()
        } else {
            placements.join(" + ")
        };
        write!(f, "{what}, with {}", self.base.words())
    }
}

#[cfg(test)]
mod tests {
    use lockstorm_scenarios::{LockOperation, Message};

    use super::*;

    fn at(node: &str) -> Placement {
        let point = Point {
            client: "a".to_owned(),
            operation: LockOperation::Acquire,
            ordinal: 1,
            nth: 1,
            message: Message::Request,
            command: "SET".to_owned(),
            node: Some(node.to_owned()),
        };
        let fault = Fault::Lose;
        Placement { point, fault }
    }

    #[test]
    fn equal_servers_are_numbered_as_they_come() {
        let nodes = ["n1", "n2", "n3"].map(str::to_owned);
        let plan = |of: &[&str]| Plan {
            base: Base::Patient,
            placements: of.iter().map(|node| at(node)).collect(),
        };
        assert_eq!(
            plan(&["n3", "n1", "n3"]).canonical(&nodes),
            plan(&["n1", "n2", "n1"])
        );
        assert_eq!(plan(&["n1", "n2"]).canonical(&nodes), plan(&["n1", "n2"]));
    }
}
