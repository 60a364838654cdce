//! The steps of a litmus: what happens, one thing after the other.

use lockstorm_checker::history::Mode;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::duration::Span;
use super::fault::{
    Cut, DeleteKey, FaultSpec, Kill, KillClient, Link, Pause, PauseClient, Promote, Restart,
};

/// One step, as `[[step]]` with one key. Each ends before the next begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// A client asks for a lock.
    Acquire(Acquire),
    /// A client extends its lease.
    Renew(Renew),
    /// A client gives a lock back.
    Release(Release),
    /// A client works in its critical section.
    Work(Work),
    /// A client looks up which orders are to be closed.
    FindOrders(FindOrders),
    /// A client closes the orders that it found last, and gives their stock back.
    CloseOrders(CloseOrders),
    /// The script waits for a condition.
    Await(Await),
    /// See [`FaultSpec::Kill`].
    Kill(Kill),
    /// See [`FaultSpec::Restart`]; also ends a `kill`.
    Restart(Restart),
    /// See [`FaultSpec::Pause`].
    Pause(Pause),
    /// Ends a `pause`.
    Resume(Pause),
    /// See [`FaultSpec::Cut`].
    Cut(Cut),
    /// Ends a `cut` of the same link.
    Heal(Link),
    /// See [`FaultSpec::Promote`].
    Promote(Promote),
    /// See [`FaultSpec::PauseClient`].
    PauseClient(PauseClient),
    /// Ends a `pause-client`.
    ResumeClient(ResumeClient),
    /// See [`FaultSpec::KillClient`].
    KillClient(KillClient),
    /// See [`FaultSpec::DeleteKey`].
    DeleteKey(DeleteKey),
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
    /// Who asks; a client comes into being with its first step.
    pub client: String,
    /// For which lock.
    #[serde(default = "default_key")]
    pub key: String,
    /// To hold alone (`write`) or together with other readers.
    #[serde(default, skip_serializing_if = "is_write")]
    #[schemars(schema_with = "mode_schema")]
    pub mode: Mode,
    /// How many permits of a semaphore.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub permits: u32,
    /// How long it goes on trying; absent means one try.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<Span>,
    /// The answer without which the rest of the script makes no sense.
    #[serde(default)]
    pub expect: AcquireReply,
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
    /// No answer: the outcome is indeterminate.
    Unknown,
}

/// Parameters of [`Step::Renew`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Renew {
    /// Who extends.
    pub client: String,
    /// Which lock.
    #[serde(default = "default_key")]
    pub key: String,
    /// The side that it holds.
    #[serde(default, skip_serializing_if = "is_write")]
    #[schemars(schema_with = "mode_schema")]
    pub mode: Mode,
    /// The answer without which the rest of the script makes no sense.
    #[serde(default)]
    pub expect: RenewReply,
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
    /// Who gives back.
    pub client: String,
    /// Which lock.
    #[serde(default = "default_key")]
    pub key: String,
    /// The side that it holds.
    #[serde(default, skip_serializing_if = "is_write")]
    #[schemars(schema_with = "mode_schema")]
    pub mode: Mode,
    /// How many permits of a semaphore.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub permits: u32,
    /// The answer without which the rest of the script makes no sense.
    #[serde(default)]
    pub expect: ReleaseReply,
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

/// Parameters of [`Step::Work`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Work {
    /// Who works.
    pub client: String,
    /// For how long.
    #[serde(rename = "for")]
    pub length: Span,
}

/// Parameters of [`Step::FindOrders`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct FindOrders {
    /// Who looks.
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
    /// Who closes.
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
    pub key_gone: String,
    /// Give up after this long: the script then stops.
    #[serde(default = "default_within")]
    pub within: Span,
}

const fn default_within() -> Span {
    Span::from_secs(10)
}

/// Parameters of [`Step::ResumeClient`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ResumeClient {
    /// Which client.
    pub client: String,
}

impl Step {
    /// The words of all steps, as in [`Step::kind`].
    pub const KINDS: [&str; 18] = [
        "acquire",
        "renew",
        "release",
        "work",
        "find-orders",
        "close-orders",
        "await",
        "kill",
        "restart",
        "pause",
        "resume",
        "cut",
        "heal",
        "promote",
        "pause-client",
        "resume-client",
        "kill-client",
        "delete-key",
    ];

    /// The word used in scenario files.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Acquire(_) => "acquire",
            Self::Renew(_) => "renew",
            Self::Release(_) => "release",
            Self::Work(_) => "work",
            Self::FindOrders(_) => "find-orders",
            Self::CloseOrders(_) => "close-orders",
            Self::Await(_) => "await",
            Self::Kill(_) => "kill",
            Self::Restart(_) => "restart",
            Self::Pause(_) => "pause",
            Self::Resume(_) => "resume",
            Self::Cut(_) => "cut",
            Self::Heal(_) => "heal",
            Self::Promote(_) => "promote",
            Self::PauseClient(_) => "pause-client",
            Self::ResumeClient(_) => "resume-client",
            Self::KillClient(_) => "kill-client",
            Self::DeleteKey(_) => "delete-key",
        }
    }

    /// The fault that the step injects, if it injects one.
    pub fn fault(&self) -> Option<FaultSpec> {
        match self {
            Self::Kill(kill) => Some(FaultSpec::Kill(kill.clone())),
            Self::Restart(restart) => Some(FaultSpec::Restart(restart.clone())),
            Self::Pause(pause) => Some(FaultSpec::Pause(pause.clone())),
            Self::Cut(cut) => Some(FaultSpec::Cut(cut.clone())),
            Self::Promote(promote) => Some(FaultSpec::Promote(promote.clone())),
            Self::PauseClient(pause) => Some(FaultSpec::PauseClient(pause.clone())),
            Self::KillClient(kill) => Some(FaultSpec::KillClient(kill.clone())),
            Self::DeleteKey(delete) => Some(FaultSpec::DeleteKey(delete.clone())),
            Self::Acquire(_)
            | Self::Renew(_)
            | Self::Release(_)
            | Self::Work(_)
            | Self::FindOrders(_)
            | Self::CloseOrders(_)
            | Self::Await(_)
            | Self::Resume(_)
            | Self::Heal(_)
            | Self::ResumeClient(_) => None,
        }
    }
}
