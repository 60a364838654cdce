//! Verdicts and what stands behind them: the contract of `results.json`.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::history::{
    DataLoss, FaultClass, FaultNote, FaultPhase, FaultTarget, Givers, Nanos, WrittenTarget,
};

pub use crate::property_name::{Property, UnknownProperty};

/// Answer to "does the history show a violation?", merged as violated > unknown > valid.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// No violation found, in a history that could have shown one.
    #[default]
    Valid,
    /// The history could not have shown a violation, or the search was cut short.
    Unknown,
    /// A violation is proved, with a witness.
    Violated,
}

impl Verdict {
    /// The worse of two answers.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        self.max(other)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Valid => "valid",
            Self::Unknown => "unknown",
            Self::Violated => "violated",
        })
    }
}

/// Everything the checker says of one history.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Analysis {
    /// The worst answer of all judged properties.
    pub verdict: Verdict,
    /// Each judged property. A property without subject matter in this history (no lease, no
    /// final phase) is absent unless it was asked for by name: it then says `unknown`.
    pub properties: BTreeMap<Property, Judgement>,
    /// Counts of what the history contains, so that a reader can weigh the verdict.
    pub coverage: Coverage,
    /// The faults of the run, in order of injection.
    pub faults: Vec<FaultSummary>,
    /// Time in which the locks could not be had; absent where nobody asked for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub availability: Option<Availability>,
    /// Figures on how holders learned that they had lost the lock; absent where none went on after
    /// a loss.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub losses: Option<Losses>,
    /// Figures on how the recorder of the history stood still; absent where it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stalls: Option<Stalls>,
}

/// Figures on how the recorder of a history stood still.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stalls {
    /// Number of times that it stood still.
    pub count: u64,
    /// For how long in all.
    pub total: Nanos,
    /// For how long at the longest.
    pub longest: Nanos,
}

impl Stalls {
    /// The figures, in one sentence.
    pub fn sentence(&self) -> String {
        let length = crate::text::length;
        let often = match self.count {
            1 => format!("for {}", length(self.total)),
            count => format!(
                "{count} times, for {} in all and {} at the longest",
                length(self.total),
                length(self.longest)
            ),
        };
        format!("the harness stood still {often}; no lock is accused of what it missed meanwhile")
    }
}

/// Figures on how long it took until holders were told that their lease had run out, over all keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Losses {
    /// Number of holders that went on after their lease had certainly run out.
    pub lost: u64,
    /// Number of those that were told.
    pub told: u64,
    /// Longest time from the loss until one of those was told.
    pub longest: Nanos,
    /// Longest time for which one of the others went on.
    pub longest_untold: Nanos,
}

impl Losses {
    /// The figures, in one sentence.
    pub fn sentence(&self) -> String {
        let length = crate::text::length;
        let count = |number: u64, one: &str, many: &str| match number {
            1 => format!("1 {one}"),
            _ => format!("{number} {many}"),
        };
        let holders = count(self.lost, "holder", "holders");
        let told = count(self.told, "was told", "were told");
        let others = count(self.lost - self.told.min(self.lost), "was not", "were not");
        let mut parts = Vec::new();
        if self.told > 0 {
            parts.push(format!(
                "{told}, after {} at the latest",
                length(self.longest)
            ));
        }
        if self.told < self.lost {
            let longest = length(self.longest_untold);
            parts.push(format!(
                "{others}, and went on for {longest} at the longest"
            ));
        }
        let whose = if self.lost == 1 { "its" } else { "their" };
        let parts = parts.join("; ");
        format!("{holders} went on after {whose} lease had certainly run out: {parts}")
    }
}

/// Figures of availability, over all keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Availability {
    /// Time in which somebody wanted a lock.
    pub wanted: Nanos,
    /// Part of that time in which nobody was granted it, and nobody held it.
    pub without_grant: Nanos,
    /// The longest stretch of that.
    pub longest: Nanos,
}

impl Availability {
    /// The figures, in one sentence.
    pub fn sentence(&self) -> String {
        let permille = self.permille_without_grant();
        format!(
            "for {}.{} % of the time in which a lock was asked for, nobody got it and nobody is \
             known to have held it, for {} without a break",
            permille / 10,
            permille % 10,
            crate::text::length(self.longest)
        )
    }

    /// The share of the time without a grant, in thousandths of the time in which it was wanted.
    pub fn permille_without_grant(&self) -> u64 {
        let share = u128::from(self.without_grant.0) * 1000 / u128::from(self.wanted.0.max(1));
        u64::try_from(share).unwrap_or(u64::MAX)
    }
}

/// The answer for one property.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// The answer.
    pub verdict: Verdict,
    /// Reason why the verdict is `unknown`, or what else there is to say of it, in one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Name of the algorithm that decided.
    pub engine: String,
    /// Number of violations in all.
    pub count: u64,
    /// The first of them, up to the limit of the options.
    pub witnesses: Vec<Witness>,
}

/// Counters that tell whether the run could have shown anything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coverage {
    /// Events read.
    pub events: u64,
    /// Operations: invocations, completed or not.
    pub operations: u64,
    /// Distinct lock keys.
    pub keys: u64,
    /// Distinct owners that asked for a lock.
    pub owners: u64,
    /// Acquires granted.
    pub granted: u64,
    /// Acquires refused by the server.
    pub refused: u64,
    /// Operations whose outcome is indeterminate.
    pub indeterminate: u64,
    /// Acquires tried while another owner held, or may have held, the lock.
    pub contended: u64,
    /// Grants while at least one fault was active.
    pub granted_under_fault: u64,
    /// Holds whose lease ended before they were released.
    pub expired: u64,
    /// Number of times that a client turned to another server.
    #[serde(default, skip_serializing_if = "is_none")]
    pub redirects: u64,
    /// Number of times that a client turned to the same server over a new connection.
    #[serde(default, skip_serializing_if = "is_none")]
    pub reconnects: u64,
    /// Cycles of acquire and release before the final phase, if there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycles: Option<Cycles>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
const fn is_none(count: &u64) -> bool {
    *count == 0
}

/// Total cost of the cycles of acquire and release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cycles {
    /// Number of cycles that were completed.
    pub count: u64,
    /// The first invocation of an acquire.
    pub since: Nanos,
    /// The last answer to a release.
    pub until: Nanos,
}

impl Cycles {
    /// Returns the time that they took together.
    pub fn took(&self) -> Nanos {
        self.until - self.since
    }
}

/// A fault of the run, gathered from its notes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "WrittenSummary")]
pub struct FaultSummary {
    /// Such as `F1`.
    pub id: String,
    /// Such as `kill`.
    pub kind: String,
    /// The way in which it does harm.
    pub class: FaultClass,
    /// Servers, links, clients or keys.
    pub target: FaultTarget,
    /// Stages with their times and evidence.
    pub stages: Vec<FaultStage>,
    /// Operations in flight while it was active.
    pub operations: u64,
    /// Violations that it is blamed for: it was active when they were decided, and could decide
    /// them.
    pub violations: u64,
}

/// A summary as any version writes it.
#[derive(Deserialize)]
struct WrittenSummary {
    id: String,
    kind: String,
    #[serde(default)]
    class: Option<FaultClass>,
    target: WrittenTarget,
    stages: Vec<FaultStage>,
    operations: u64,
    violations: u64,
}

impl From<WrittenSummary> for FaultSummary {
    fn from(written: WrittenSummary) -> Self {
        Self {
            class: FaultClass::of_kind(written.class, &written.kind),
            target: written.target.of_kind(&written.kind),
            id: written.id,
            kind: written.kind,
            stages: written.stages,
            operations: written.operations,
            violations: written.violations,
        }
    }
}

impl FaultSummary {
    /// The fault that a note tells of, without stages.
    pub(crate) fn of(note: &FaultNote) -> Self {
        Self {
            id: note.id.to_string(),
            kind: note.kind.to_string(),
            class: note.class,
            target: note.target.clone(),
            stages: Vec::new(),
            operations: 0,
            violations: 0,
        }
    }

    /// Returns the time at which `phase` was reached, if it was.
    pub fn at(&self, phase: FaultPhase) -> Option<Nanos> {
        self.stages
            .iter()
            .find(|stage| stage.phase == phase)
            .map(|stage| stage.time)
    }
}

/// One stage of a fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultStage {
    /// Phase that was reached.
    pub phase: FaultPhase,
    /// Time at which it was reached.
    pub time: Nanos,
    /// Index of the event that says so.
    pub event: u64,
    /// Description of what was seen, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    /// Of a clock: how far it was off, ahead or (negative) behind, in nanoseconds. Of `healed`: how
    /// far at the end of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset_ns: Option<i64>,
    /// Of a server that came back: what it had lost, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<DataLoss>,
}

/// A minimal set of operations that proves a violation, with the story that explains it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Witness {
    /// Property that is violated.
    pub property: Property,
    /// Groups witnesses of the same shape: property and kind of violation, faults active,
    /// certainty.
    pub signature: String,
    /// The lock.
    pub lock_key: String,
    /// The claim, in one sentence.
    pub claim: String,
    /// Interval in which both held (or in which the lock could not be had).
    pub interval: (Nanos, Nanos),
    /// `false` where the leases leave room for doubt.
    pub certain: bool,
    /// The holders involved; dropping any of them makes the history legal.
    pub holders: Vec<Holder>,
    /// Faults active from the first grant of the witness to its end.
    pub faults_active: Vec<String>,
    /// Those of them that it is blamed on: active between the last instant at which the service
    /// certainly knew of the first hold and the second grant, and able to bring this about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blamed: Vec<String>,
    /// Account of what happened, in numbered steps that end with the contradiction.
    pub story: Vec<Step>,
}

/// One hold of a witness.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Holder {
    /// Owner.
    pub client: String,
    /// Index of the invocation of its acquire.
    pub op_acquire: u64,
    /// Index of the invocation of its release, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub op_release: Option<u64>,
    /// Time at which the acquire was sent.
    pub acquire_invoked: Nanos,
    /// Time at which the grant arrived: the hold begins.
    pub granted: Nanos,
    /// Time at which the release was sent, if it was: the hold ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release_invoked: Option<Nanos>,
    /// Time at which its client was told that it had lost the lock, or died, if it was then still
    /// the holder: the hold ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told_lost: Option<Nanos>,
    /// The servers that granted it, each with what it took itself for; absent where the reply names
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Givers>,
    /// Fencing token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<u64>,
    /// Lease floor: until here the service may not drop the lock. Absent without a lease.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_floor: Option<Nanos>,
    /// Lease ceiling: after it the service has certainly dropped the lock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_ceiling: Option<Nanos>,
}

/// Kind of a step of a story: what it tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StepKind {
    /// A lock was granted.
    Grant,
    /// A lock was refused.
    Refuse,
    /// A lease was extended.
    Renew,
    /// A lease ended.
    Expire,
    /// Any other command: the guarded resource was used, or a place in a queue was taken.
    Command,
    /// A client turned to another server, or to the same again.
    Route,
    /// A server became a primary or a replica.
    Role,
    /// Servers knew something of the lock, or were told to do something with it; or the harness
    /// stood still, or a client failed.
    Trace,
    /// A fault began or ended.
    Fault,
    /// A release was sent or answered.
    Release,
    /// The sentence that the story leads to.
    Contradiction,
}

/// One step of a story. Every sentence cites the events that it rests on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// From 1.
    pub n: u32,
    /// Time of the step.
    pub t: Nanos,
    /// Actor: a client, a fault id, a server, `servers` for all of them, `harness`, `nemesis`, or
    /// `checker` for a conclusion.
    pub actor: String,
    /// Kind of step.
    pub kind: StepKind,
    /// The sentence, without number and time.
    pub text: String,
    /// Holders before the step, as the clients could know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Holders after the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// `false` for a conclusion that is inferred, not read off an event.
    pub certain: bool,
    /// Indexes of events.
    pub evidence: Vec<u64>,
}
