//! The clients of a scenario.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::duration::{DurationRange, DurationSpec};

/// Number of clients that a storm has and how they behave. A litmus names its clients in its steps
/// and takes only `reply-timeout` from here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Clients {
    /// Kind of the clients. A lock that is an adapter's has processes always.
    #[serde(skip_serializing_if = "is_task")]
    pub kind: ClientKind,
    /// Clients of a storm, named `c0`, `c1`, ...
    pub count: u32,
    /// Lock keys that they compete for, named `lock-0`, `lock-1`, ...
    pub keys: u32,
    /// Way in which a client picks the lock of a round.
    pub pick: Pick,
    /// Length of a critical section.
    pub hold: DurationRange,
    /// True if a client gives back what it was granted. Otherwise it holds on as long as the lock
    /// itself lets it.
    pub release: bool,
    /// Pause between a release and the next acquire.
    pub think: DurationRange,
    /// All clients begin their rounds together, this far apart, as timed jobs do, instead of
    /// pausing between them; who is late leaves out what has passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every: Option<DurationSpec>,
    /// Time for which an acquire goes on trying before the client gives up the round.
    pub wait: DurationSpec,
    /// Pause between two tries of a waiting acquire.
    pub retry: DurationRange,
    /// Share of the acquires that ask for the read side, in percent.
    pub read_percent: u32,
    /// Time for which a client waits for a reply; then the outcome is indeterminate.
    pub reply_timeout: DurationSpec,
    /// Name by which a library is to call the owner of each client, so that all are one owner to
    /// it. Absent: the library's own names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity: Option<String>,
}

/// Kind of a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ClientKind {
    /// A task of the harness: cheap, thousands of them. It is paused and killed between commands.
    #[default]
    Task,
    /// A process, which is really stopped and killed, wherever it is.
    Process,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
const fn is_task(kind: &ClientKind) -> bool {
    matches!(kind, ClientKind::Task)
}

/// Way in which a client of a storm picks the lock of a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pick {
    /// Any of them, with equal chances.
    #[default]
    Random,
    /// One after the other: all clients together go once through all locks before any comes again.
    InTurn,
}

impl Default for Clients {
    fn default() -> Self {
        Self {
            kind: ClientKind::Task,
            count: 5,
            keys: 1,
            pick: Pick::Random,
            hold: DurationRange::from_millis(1, 10),
            release: true,
            think: DurationRange::from_millis(0, 10),
            every: None,
            wait: DurationSpec::from_secs(1),
            retry: DurationRange::from_millis(5, 20),
            read_percent: 0,
            reply_timeout: DurationSpec::from_millis(500),
            identity: None,
        }
    }
}
