//! The steps of a litmus: what happens, one thing after the other.

use lockstorm_checker::history::Mode;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::duration::DurationSpec;
use super::faults::{FaultKind, FaultSpec, Link, NodeTarget};
use super::promise::Promise;

/// One step, as `[[step]]` with one key. Each ends before the next begins.
///
/// A fault is written as any other step: serde reads it in `step_form.rs`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", remote = "Self")]
#[schemars(!remote)]
pub enum Step {
    /// A client asks for a lock.
    Acquire(Acquire),
    /// A client extends its lease.
    Renew(Renew),
    /// A client gives a lock back.
    Release(Release),
    /// A client gives up what it has under way.
    Cancel(Cancel),
    /// A client works in its critical section.
    Work(Work),
    /// A client looks up which orders are to be closed.
    FindOrders(FindOrders),
    /// A client closes the orders that it found last, and gives their stock back.
    CloseOrders(CloseOrders),
    /// The script waits for a condition.
    Await(Await),
    /// Undoes faults of a kind that are in force.
    Heal(Heal),
    /// Something breaks.
    #[serde(skip)]
    #[schemars(!skip, untagged)]
    Fault(FaultSpec),
}

/// The two modes. The checker, which owns their names, knows no schemas.
fn mode_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "enum": ["write", "read"] })
}

const fn one() -> u32 {
    1
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_one(permits: &u32) -> bool {
    *permits == 1
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_write(mode: &Mode) -> bool {
    *mode == Mode::Write
}

/// Key of steps that name none.
fn default_key() -> String {
    "lock".to_owned()
}

/// Parameters of [`Step::Acquire`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Acquire {
    /// Client that asks; it comes into being with its first step.
    pub client: String,
    /// For which lock.
    #[serde(default = "default_key")]
    pub key: String,
    /// To hold alone (`write`) or together with other readers.
    #[serde(default, skip_serializing_if = "is_write")]
    #[schemars(schema_with = "mode_schema")]
    pub mode: Mode,
    /// Number of permits of a semaphore.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub permits: u32,
    /// Time for which it goes on trying; absent means one try.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<DurationSpec>,
    /// Go on without the answer, for which `await = { answer-to = "..." }` waits.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub under_way: bool,
    /// The answer without which the rest of the script makes no sense.
    #[serde(default)]
    pub expect: AcquireReply,
    /// Promise that any other answer breaks, where the lock makes it; absent means that any other
    /// answer leaves the rest of the script without sense.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub breaks: Option<Promise>,
}

/// Answers to an acquire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AcquireReply {
    /// Any answer will do.
    #[default]
    Any,
    /// The lock is the client's.
    Granted,
    /// The lock is another's.
    Refused,
    /// The lock is not the client's, as far as it is told: refused, or no answer.
    NotGranted,
    /// No answer: the outcome is indeterminate.
    Unknown,
}

/// Parameters of [`Step::Renew`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Renew {
    /// Client that extends its lease.
    pub client: String,
    /// Key of the lock.
    #[serde(default = "default_key")]
    pub key: String,
    /// The side that it holds.
    #[serde(default, skip_serializing_if = "is_write")]
    #[schemars(schema_with = "mode_schema")]
    pub mode: Mode,
    /// Go on without the answer, for which `await = { answer-to = "..." }` waits.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub under_way: bool,
    /// The answer without which the rest of the script makes no sense.
    #[serde(default)]
    pub expect: RenewReply,
    /// Promise that any other answer breaks, where the lock makes it; absent means that any other
    /// answer leaves the rest of the script without sense.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub breaks: Option<Promise>,
}

/// Answers to a renewal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RenewReply {
    /// Any answer will do.
    #[default]
    Any,
    /// The lease is extended.
    Renewed,
    /// The client does not hold the lock.
    NotOwner,
    /// No answer: the outcome is indeterminate.
    Unknown,
}

/// Parameters of [`Step::Release`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Release {
    /// Client that gives back.
    pub client: String,
    /// Key of the lock.
    #[serde(default = "default_key")]
    pub key: String,
    /// The side that it holds.
    #[serde(default, skip_serializing_if = "is_write")]
    #[schemars(schema_with = "mode_schema")]
    pub mode: Mode,
    /// Number of permits of a semaphore.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub permits: u32,
    /// Go on without the answer, for which `await = { answer-to = "..." }` waits.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub under_way: bool,
    /// Skip the release if the client's last acquire of the key was refused and the client holds
    /// nothing of it from before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unless_refused: bool,
    /// Skip the release if the client does not have the key, as far as it knows.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub if_held: bool,
    /// The answer without which the rest of the script makes no sense.
    #[serde(default)]
    pub expect: ReleaseReply,
    /// Promise that any other answer breaks, where the lock makes it; absent means that any other
    /// answer leaves the rest of the script without sense.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub breaks: Option<Promise>,
}

/// Answers to a release.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReleaseReply {
    /// Any answer will do.
    #[default]
    Any,
    /// The lock is free.
    Released,
    /// The client did not hold the lock.
    NotOwner,
    /// No answer: the outcome is indeterminate.
    Unknown,
}

/// Parameters of [`Step::Cancel`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Cancel {
    /// Client that gives up its acquire, renewal or release: as its language does it, by dropping a
    /// future, cancelling a task or a context, or interrupting a thread.
    pub client: String,
}

/// Parameters of [`Step::Work`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Work {
    /// Client that works.
    pub client: String,
    /// For how long.
    #[serde(rename = "for")]
    pub length: DurationSpec,
}

/// Parameters of [`Step::FindOrders`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct FindOrders {
    /// Client that looks.
    pub client: String,
    /// By which lock, with the token of its last grant.
    #[serde(default = "default_key")]
    pub key: String,
    /// The answer without which the rest of the script makes no sense.
    #[serde(default)]
    pub expect: OrdersReply,
}

/// Parameters of [`Step::CloseOrders`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CloseOrders {
    /// Client that closes.
    pub client: String,
    /// By which lock, with the token of its last grant.
    #[serde(default = "default_key")]
    pub key: String,
    /// The answer without which the rest of the script makes no sense.
    #[serde(default)]
    pub expect: OrdersReply,
}

/// Answers of the database of orders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OrdersReply {
    /// Any answer will do.
    #[default]
    Any,
    /// It did as it was told.
    Done,
    /// It refused the client's fencing token.
    Refused,
    /// No answer: the outcome is indeterminate.
    Unknown,
}

/// Parameters of [`Step::Await`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Await {
    /// Until this key is gone from the servers that take writes (from a majority of masters).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_gone: Option<String>,
    /// Until this key is there, on the servers that take writes (on a majority of masters).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_there: Option<String>,
    /// Only this server counts for `key-gone` or `key-there`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Until another server takes the writes of this key than at the beginning of the script, or
    /// than the last such wait has found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failover_of: Option<String>,
    /// Until what this client has `under-way` is answered, and as it expects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_to: Option<String>,
    /// Until a message of this client is held by `hold-message`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<String>,
    /// Give up after this long: the script then stops.
    #[serde(default = "default_within")]
    pub within: DurationSpec,
}

const fn default_within() -> DurationSpec {
    DurationSpec::from_secs(10)
}

/// Parameters of [`Step::Heal`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Heal {
    /// The word of the fault, such as `slow-fsync`; without anything else, wherever it is in force.
    pub fault: String,
    /// Only on this server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeTarget>,
    /// Only on this client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// Only on the link that begins here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Only on the link that ends here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

impl Heal {
    /// The link that it names, if it names both ends.
    pub fn link(&self) -> Option<Link> {
        let (from, to) = (self.from.clone()?, self.to.clone()?);
        Some(Link { from, to })
    }

    /// The server, client or link that it names, in the words of the scenario.
    pub fn target(&self) -> Option<String> {
        let link = self.link().map(|link| link.name());
        self.node.clone().or(self.client.clone()).or(link)
    }
}

impl Step {
    /// The words of the steps that are no faults.
    pub(super) const OWN_KINDS: &[&str] = &[
        "acquire",
        "renew",
        "release",
        "cancel",
        "work",
        "find-orders",
        "close-orders",
        "await",
        "heal",
    ];

    /// The words of all steps, as in [`Step::kind`].
    pub fn kinds() -> impl Iterator<Item = &'static str> {
        Self::OWN_KINDS.iter().chain(FaultKind::NAMES).copied()
    }

    /// The word used in scenario files.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Acquire(_) => "acquire",
            Self::Renew(_) => "renew",
            Self::Release(_) => "release",
            Self::Cancel(_) => "cancel",
            Self::Work(_) => "work",
            Self::FindOrders(_) => "find-orders",
            Self::CloseOrders(_) => "close-orders",
            Self::Await(_) => "await",
            Self::Heal(_) => "heal",
            Self::Fault(fault) => fault.kind().name(),
        }
    }

    /// The promise that another answer than the expected one breaks, if the step says one.
    pub const fn breaks(&self) -> Option<Promise> {
        match self {
            Self::Acquire(acquire) => acquire.breaks,
            Self::Renew(renew) => renew.breaks,
            Self::Release(release) => release.breaks,
            Self::Cancel(_)
            | Self::Work(_)
            | Self::FindOrders(_)
            | Self::CloseOrders(_)
            | Self::Await(_)
            | Self::Heal(_)
            | Self::Fault(_) => None,
        }
    }

    /// Forgets the promise that another answer breaks, unless it is one of these. Where permits are
    /// counted, they stand for exclusion.
    pub(crate) fn keep_breaks(&mut self, tested: &[Promise]) {
        let counts = tested.contains(&Promise::Permits);
        let breaks = match self {
            Self::Acquire(acquire) => &mut acquire.breaks,
            Self::Renew(renew) => &mut renew.breaks,
            Self::Release(release) => &mut release.breaks,
            Self::Cancel(_)
            | Self::Work(_)
            | Self::FindOrders(_)
            | Self::CloseOrders(_)
            | Self::Await(_)
            | Self::Heal(_)
            | Self::Fault(_) => return,
        };
        *breaks = breaks
            .map(|promise| match promise {
                Promise::Exclusive if counts => Promise::Permits,
                other => other,
            })
            .filter(|promise| tested.contains(promise));
    }

    /// The fault that the step injects, if it injects one.
    pub const fn fault(&self) -> Option<&FaultSpec> {
        if let Self::Fault(fault) = self {
            Some(fault)
        } else {
            None
        }
    }
}
