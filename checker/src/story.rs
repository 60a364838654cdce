//! What happened, in numbered steps that end with the contradiction.
//!
//! For: the one text that every report prints as it stands. Each sentence cites the events that it
//! rests on; what is concluded and not read off an event is marked as not certain. Not for:
//! completeness; a story tells what leads to the contradiction and leaves the rest to the timeline.

use crate::case::{Case, Finding};
use crate::digest::LostNote;
use crate::history::{FaultPhase, Nanos};
use crate::hold::Hold;
use crate::interval::Interval;
use crate::lease::Lease;
use crate::operation::{Action, OpId, Operation, Outcome};
use crate::verdict::{FaultSummary, Property, Step, StepKind};
use crate::{claim, faults, text, witness};

/// Faults told of in one story. Who needs more reads the table of faults.
const FAULTS_MAX: usize = 12;

/// The story of a finding. `interval` is that of the witness, `scene` begins with its first
/// acquire.
pub(crate) fn story(
    case: &Case,
    finding: &Finding,
    interval: Interval,
    scene: Interval,
) -> Vec<Step> {
    let mut teller = Teller {
        case,
        finding,
        lock: text::lock(case.digest.key(finding.key)),
        until: match finding.property {
            Property::LostLock => interval.start,
            Property::MutualExclusion | Property::LeaseOverrun | Property::Liveness => interval.end,
        },
        drafts: Vec::new(),
    };
    for &at in &finding.holds {
        teller.hold(&case.holds[at]);
    }
    for fault in faults::active(case.faults, scene)
        .into_iter()
        .take(FAULTS_MAX)
    {
        teller.fault(fault);
    }
    match finding.property {
        Property::MutualExclusion | Property::LeaseOverrun => teller.last_refusal(interval.start),
        Property::LostLock => teller.denial(),
        Property::Liveness => teller.stuck(interval),
    }
    teller.tell(claim::claim(case, finding, interval))
}

impl Step {
    /// The step as one line of text: number, time, sentence.
    pub fn line(&self) -> String {
        format!("{:>2}  {}  {}", self.n, text::instant(self.t), self.text)
    }
}

/// A step before it is numbered.
struct Draft {
    time: Nanos,
    actor: String,
    kind: StepKind,
    text: String,
    certain: bool,
    evidence: Vec<u64>,
    change: Change,
}

/// What a step changes about who holds, as the clients could know.
#[derive(Clone, Copy)]
enum Change {
    None,
    Gains,
    Loses,
}

struct Teller<'a> {
    case: &'a Case<'a>,
    finding: &'a Finding,
    lock: String,
    /// The time of the contradiction; what came later explains nothing.
    until: Nanos,
    drafts: Vec<Draft>,
}

impl Teller<'_> {
    fn hold(&mut self, hold: &Hold) {
        self.grant(hold);
        self.last_renewal(hold);
        self.expiry(hold);
        self.notice(hold);
        if hold.release != self.finding.operation {
            self.release(hold);
        }
    }

    fn grant(&mut self, hold: &Hold) {
        let owner = self.owner(hold);
        let mut evidence = self.events(hold.acquire);
        let text = if let Some(proof) = hold.proof {
            evidence.extend(self.events(proof));
            let seen = match self.case.digest.operation(proof).action {
                Action::Renew => "its renewal was granted",
                Action::Release => "its release was granted",
                Action::Acquire | Action::Resource | Action::Other => "its token was in use",
            };
            format!(
                "{owner} holds {}: its acquire had no answer, but {seen}",
                self.lock
            )
        } else {
            let token = hold.token.map(|token| format!(" with token {token}"));
            let token = token.unwrap_or_default();
            format!(
                "{owner} was granted {}{token}, {}",
                self.lock,
                self.good_until(hold.acquire)
            )
        };
        self.drafts.push(Draft {
            time: hold.core.start,
            actor: owner,
            kind: StepKind::Grant,
            text,
            certain: hold.proof.is_none(),
            evidence,
            change: Change::Gains,
        });
    }

    /// What the lease says that this acquire or renewal got.
    fn good_until(&self, id: OpId) -> String {
        let operation = self.case.digest.operation(id);
        let drift = self.case.options.drift(&self.case.digest.header);
        match (operation.lease, operation.answered()) {
            (Some(length), Some(answered)) => {
                let lease = Lease::granted(operation.invoked, answered, Some(length), drift);
                format!("its lease good until {}", text::instant(lease.floor))
            }
            (None, _) | (_, None) => "without a lease of its own".to_owned(),
        }
    }

    fn last_renewal(&mut self, hold: &Hold) {
        let digest = self.case.digest;
        let answered = |id: OpId| digest.operation(id).answered();
        let mut renewals = witness::operations(self.case, hold);
        renewals.retain(|&id| {
            let renewal = digest.operation(id);
            let granted = renewal.action == Action::Renew && renewal.outcome == Outcome::Ok;
            granted && answered(id).is_some_and(|answered| answered <= self.until)
        });
        let count = renewals.len();
        let Some((last, time)) = renewals.pop().and_then(|id| Some((id, answered(id)?))) else {
            return;
        };
        let owner = self.owner(hold);
        let good_until = self.good_until(last);
        let text = format!(
            "{owner} renewed {} (renewal {count}), {good_until}",
            self.lock
        );
        self.push(time, owner, StepKind::Renew, text, last);
    }

    fn expiry(&mut self, hold: &Hold) {
        let owner = self.owner(hold);
        let ends = [
            (
                hold.lease.floor,
                "may have run out from here on",
                Change::None,
            ),
            (hold.lease.ceiling, "has certainly run out", Change::Loses),
        ];
        for (end, what, change) in ends {
            let time = end.max(hold.core.start);
            if time <= self.until && time < hold.core.end {
                self.drafts.push(Draft {
                    time,
                    actor: owner.clone(),
                    kind: StepKind::Expire,
                    text: format!("the lease of {owner} on {} {what}", self.lock),
                    certain: false,
                    evidence: self.events(hold.acquire),
                    change,
                });
            }
        }
    }

    /// The notice that a client lost the lock.
    fn notice(&mut self, hold: &Hold) {
        let Some(time) = hold.told_lost.filter(|&told| told <= self.until) else {
            return;
        };
        let notes = &self.case.digest.lost;
        let same =
            |note: &&LostNote| (note.key, note.owner, note.time) == (hold.key, hold.owner, time);
        if let Some(note) = notes.iter().find(same) {
            let owner = self.owner(hold);
            self.drafts.push(Draft {
                time,
                text: format!("{owner} was told that it lost {}", self.lock),
                actor: owner,
                kind: StepKind::Expire,
                certain: true,
                evidence: vec![note.event],
                change: Change::Loses,
            });
        }
    }

    fn release(&mut self, hold: &Hold) {
        let Some(id) = hold.release else {
            return;
        };
        let release = self.case.digest.operation(id);
        if release.invoked > self.until {
            return;
        }
        let (owner, lock) = (self.owner(hold), &self.lock);
        let text = match release.outcome {
            Outcome::Ok => format!("{owner} released {lock}"),
            Outcome::NotOwner => {
                format!("{owner} released {lock}, and was told that it does not hold it")
            }
            Outcome::Refused | Outcome::Failed => {
                format!("{owner} tried in vain to release {lock}")
            }
            Outcome::Unknown => format!("{owner} sent its release of {lock}, without an answer"),
        };
        self.push(release.invoked, owner, StepKind::Release, text, id);
    }

    fn fault(&mut self, fault: &FaultSummary) {
        let injected = fault.at(FaultPhase::Injected).is_some();
        for stage in fault.stages.iter().filter(|stage| stage.time <= self.until) {
            let what = match stage.phase {
                FaultPhase::Requested if injected => continue,
                FaultPhase::Requested => "was asked for",
                FaultPhase::Injected => "was injected",
                FaultPhase::Observed => "took effect",
                FaultPhase::Healed => "was healed",
            };
            let seen = stage
                .evidence
                .as_deref()
                .map(|seen| format!(": {}", text::prose(seen)));
            self.drafts.push(Draft {
                time: stage.time,
                actor: fault.id.clone(),
                kind: StepKind::Fault,
                text: format!(
                    "fault {} {what}{}",
                    text::fault(fault),
                    seen.unwrap_or_default()
                ),
                certain: true,
                evidence: vec![stage.event],
                change: Change::None,
            });
        }
    }

    /// The last acquire that was refused before `time`: until then the lock did its work.
    fn last_refusal(&mut self, time: Nanos) {
        let digest = self.case.digest;
        let first = self.drafts.iter().map(|draft| draft.time).min();
        let refused = (0..)
            .map(OpId)
            .zip(&digest.operations)
            .filter(|(_, operation)| {
                let inside = |answered| first <= Some(answered) && answered <= time;
                operation.key == self.finding.key
                    && operation.outcome == Outcome::Refused
                    && operation.answered().is_some_and(inside)
            });
        if let Some((id, refused)) = refused.max_by_key(|(_, operation)| operation.answered()) {
            self.refusal(id, refused);
        }
    }

    fn refusal(&mut self, id: OpId, refused: &Operation) {
        let owner = text::name(self.case.digest.owner(refused.owner));
        let text = format!("{owner} asked for {} and was refused", self.lock);
        let answered = refused.answered().unwrap_or(self.until);
        self.push(answered.min(self.until), owner, StepKind::Refuse, text, id);
    }

    /// A renewal or release answered "not owner", and who was granted the lock before that.
    fn denial(&mut self) {
        let (Some(id), Some(&at)) = (self.finding.operation, self.finding.holds.first()) else {
            return;
        };
        let (holds, victim) = (self.case.holds, &self.case.holds[at]);
        let granted_since = |hold: &&Hold| {
            let since = victim.core.start < hold.core.start && hold.core.start <= self.until;
            hold.key == victim.key && hold.owner != victim.owner && since
        };
        if let Some(other) = holds
            .iter()
            .filter(granted_since)
            .max_by_key(|hold| hold.core.start)
        {
            self.grant(other);
        }
        let owner = self.owner(victim);
        let (verb, kind) = match self.case.digest.operation(id).action {
            Action::Release => ("release", StepKind::Release),
            Action::Acquire | Action::Renew | Action::Resource | Action::Other => {
                ("renew", StepKind::Renew)
            }
        };
        let text = format!(
            "{owner} asked to {verb} {} and was told that it does not hold it",
            self.lock
        );
        self.push(self.until, owner, kind, text, id);
        // Both say that it holds no more.
        if let Some(last) = self.drafts.last_mut() {
            last.change = Change::Loses;
        }
    }

    /// Why nobody gets the lock: who may still have it, and who asked.
    fn stuck(&mut self, interval: Interval) {
        let digest = self.case.digest;
        let holds = self
            .case
            .holds
            .iter()
            .filter(|hold| hold.key == self.finding.key);
        let suspect = holds
            .filter(|hold| hold.hull.start < interval.end && hold.possible().end >= interval.end)
            .max_by_key(|hold| (hold.possible().end, hold.is_granted(), hold.hull.start));
        match suspect {
            Some(hold) if hold.is_granted() => {
                self.hold(hold);
            }
            Some(hold) => {
                let owner = self.owner(hold);
                let text = format!(
                    "{owner} asked for {} and had no answer: it may have taken it",
                    self.lock
                );
                self.push(hold.hull.start, owner, StepKind::Grant, text, hold.acquire);
                if let Some(last) = self.drafts.last_mut() {
                    last.certain = false;
                }
            }
            None => {}
        }
        if let Some(phase) = digest
            .final_phase
            .filter(|phase| phase.time == interval.start)
        {
            let bound = text::length(self.case.options.bound(phase.bound));
            self.drafts.push(Draft {
                time: phase.time,
                actor: "nemesis".to_owned(),
                kind: StepKind::Fault,
                text: format!(
                    "every fault is healed; {} must be had within {bound}",
                    self.lock
                ),
                certain: true,
                evidence: vec![phase.event],
                change: Change::None,
            });
        }
        if let Some(id) = self.finding.operation {
            let waiting = digest.operation(id);
            if waiting.outcome == Outcome::Refused {
                self.refusal(id, waiting);
            } else {
                let owner = text::name(digest.owner(waiting.owner));
                let text = format!("{owner} asked for {} and never had an answer", self.lock);
                self.push(waiting.invoked, owner, StepKind::Refuse, text, id);
            }
        }
    }

    fn push(&mut self, time: Nanos, actor: String, kind: StepKind, text: String, id: OpId) {
        self.drafts.push(Draft {
            time,
            actor,
            kind,
            text,
            certain: true,
            evidence: self.events(id),
            change: match kind {
                StepKind::Release => Change::Loses,
                StepKind::Grant
                | StepKind::Refuse
                | StepKind::Renew
                | StepKind::Expire
                | StepKind::Fault
                | StepKind::Contradiction => Change::None,
            },
        });
    }

    fn owner(&self, hold: &Hold) -> String {
        text::name(self.case.digest.owner(hold.owner))
    }

    /// The events of an operation.
    fn events(&self, id: OpId) -> Vec<u64> {
        let operation = self.case.digest.operation(id);
        let completion = operation.completion.map(|completion| completion.index);
        std::iter::once(operation.invoke)
            .chain(completion)
            .collect()
    }

    /// Numbers the steps in order of time, and closes with the contradiction.
    fn tell(mut self, claim: String) -> Vec<Step> {
        // Events that tie keep the order in which they were recorded.
        self.drafts
            .sort_by_key(|draft| (draft.time, draft.evidence.last().copied()));
        let mut evidence: Vec<u64> = self
            .drafts
            .iter()
            .filter(|draft| draft.kind != StepKind::Fault && draft.certain)
            .flat_map(|draft| draft.evidence.iter().copied())
            .collect();
        evidence.sort_unstable();
        evidence.dedup();
        self.drafts.push(Draft {
            time: self.until,
            actor: "checker".to_owned(),
            kind: StepKind::Contradiction,
            text: claim,
            certain: self.finding.certain,
            evidence,
            change: Change::None,
        });
        let mut holders = Vec::new();
        (1..)
            .zip(self.drafts)
            .map(|(n, draft)| step(n, draft, &mut holders))
            .collect()
    }
}

fn step(n: u32, draft: Draft, holders: &mut Vec<String>) -> Step {
    let before = held_by(holders);
    match draft.change {
        Change::None => {}
        Change::Gains => holders.push(draft.actor.clone()),
        Change::Loses => holders.retain(|holder| *holder != draft.actor),
    }
    let after = held_by(holders);
    let changed = before != after;
    Step {
        n,
        t: draft.time,
        actor: draft.actor,
        kind: draft.kind,
        text: draft.text,
        before: changed.then_some(before),
        after: changed.then_some(after),
        certain: draft.certain,
        evidence: draft.evidence,
    }
}

fn held_by(holders: &[String]) -> String {
    if holders.is_empty() {
        "free".to_owned()
    } else {
        format!("held by {}", text::list(holders))
    }
}
