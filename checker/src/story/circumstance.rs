//! The steps around the holds: faults, refusals, and who asked in vain.

use std::collections::HashSet;

use super::deed::asking;
use super::teller::{Change, Draft, Teller};
use crate::case::{Case, Finding, faults};
use crate::history::{FaultPhase, Nanos};
use crate::holds::Hold;
use crate::operations::{Action, Interval, Operation, Outcome, OwnerId};
use crate::text;
use crate::verdict::{FaultSummary, StepKind};

/// Stages told of one fault: twice its whole life.
const STAGES_MAX: usize = 8;

impl Teller<'_> {
    pub(crate) fn fault(&mut self, fault: &FaultSummary) {
        let injected = fault.at(FaultPhase::Injected).is_some();
        let stages = fault.stages.iter().filter(|stage| stage.time <= self.until);
        for stage in stages.take(STAGES_MAX) {
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
                    faults::title(fault),
                    seen.unwrap_or_default()
                ),
                certain: true,
                evidence: vec![stage.event],
                change: Change::None,
            });
        }
    }

    /// The last acquire that was refused before `time`: until then the lock did its work.
    pub(crate) fn last_refusal(&mut self, time: Nanos) {
        let digest = self.case.digest;
        let first = self.drafts.iter().map(|draft| draft.time).min();
        let inside = |answered| first <= Some(answered) && answered <= time;
        let refused = digest
            .operations_on(self.finding.key)
            .filter(|(_, operation)| operation.outcome == Outcome::Refused)
            .filter(|(_, operation)| operation.answered().is_some_and(inside));
        if let Some((id, _)) = refused.max_by_key(|(_, operation)| operation.answered()) {
            self.deed(id);
        }
    }

    /// The owners of the finding's holds, and the time of the first grant.
    fn holders(&self) -> Option<(Nanos, HashSet<OwnerId>)> {
        let holds = self.finding.holds.iter().map(|&at| &self.case.holds[at]);
        let since = holds.clone().map(|hold| hold.core.start).min()?;
        Some((since, holds.map(|hold| hold.owner).collect()))
    }

    /// The first and the last release before `time` by somebody who is none of the holders: where
    /// it took the lock away from one of them, it is the cause of all that follows.
    pub(crate) fn foreign_release(&mut self, time: Nanos) {
        let digest = self.case.digest;
        let Some((since, holders)) = self.holders() else {
            return;
        };
        let by_another = |operation: &Operation| {
            let inside = |answered| since <= answered && answered <= time;
            operation.action == Action::Release
                && operation.outcome == Outcome::Ok
                && operation.answered().is_some_and(inside)
                && !holders.contains(&operation.owner)
        };
        let mut all: Vec<_> = digest
            .operations_on(self.finding.key)
            .filter(|(_, operation)| by_another(operation))
            .collect();
        all.sort_by_key(|(_, operation)| operation.answered());
        let ends = [all.first(), all.last().filter(|_| all.len() > 1)];
        for &(id, release) in ends.into_iter().flatten() {
            let owner = text::name(digest.owner(release.owner));
            let text = format!("{owner} released {}, and was told that it did", self.lock);
            let answered = release.answered().unwrap_or(time);
            self.push(answered, owner, StepKind::Release, text, id);
        }
    }

    /// The last release before `time` of which its owner, none of the holders, has no clear answer,
    /// and which a server may have been sent only while they held the lock: the owner gave up, and
    /// its request went on.
    pub(crate) fn late_release(&mut self, time: Nanos) {
        let digest = self.case.digest;
        let Some((since, holders)) = self.holders() else {
            return;
        };
        let commands = digest.asides.commands.iter();
        let here = commands.filter(|command| {
            let inside = since <= command.time && command.time <= time;
            inside
                && !command.note.is_reply
                && *command.key == **digest.keys.name(self.finding.key.0)
        });
        let senders: HashSet<OwnerId> = here
            .filter_map(|command| digest.owners.find(command.note.from.as_ref()?))
            .map(OwnerId)
            .collect();
        let is_late = |operation: &Operation| {
            operation.action == Action::Release
                && operation.outcome == Outcome::Unknown
                && operation.invoked <= time
                && senders.contains(&operation.owner)
                && !holders.contains(&operation.owner)
        };
        let all = digest.operations_on(self.finding.key);
        let late = all.filter(|(_, operation)| is_late(operation));
        if let Some((id, _)) = late.max_by_key(|(_, operation)| operation.invoked) {
            self.deed(id);
        }
    }

    /// A renewal or release answered "not owner", and who was granted the lock before that.
    pub(crate) fn denial(&mut self) {
        let (Some(id), Some(&at)) = (self.finding.operation(), self.finding.holds.first()) else {
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
        let operation = self.case.digest.operation(id);
        let (verb, kind) = match operation.action {
            Action::Release => ("release", StepKind::Release),
            Action::Acquire | Action::Renew | Action::Resource(_) | Action::Other => {
                ("renew", StepKind::Renew)
            }
        };
        let text = format!(
            "{} asked to {verb} {} and was told that it does not hold it",
            asking(operation, &owner),
            self.lock
        );
        self.push(self.until, owner, kind, text, id);
        // Both say that it holds no more.
        if let Some(last) = self.drafts.last_mut() {
            last.change = Change::Loses;
        }
    }

    /// A stretch without a grant: who asked as it began, and who got the lock in the end.
    pub(crate) fn outage(&mut self) {
        let digest = self.case.digest;
        if let Some(id) = self.finding.operation() {
            self.deed(id);
        }
        let ends = |operation: &Operation| {
            let ends = operation.answered() == Some(self.finding.interval.end);
            operation.is_grant() && ends
        };
        let mut all = digest.operations_on(self.finding.key);
        let last = all.find(|(_, operation)| ends(operation));
        if let Some((id, _)) = last.filter(|(id, _)| self.finding.operation() != Some(*id)) {
            self.deed(id);
        }
    }

    /// Tells what was read and written, as far as the finding names it.
    pub(crate) fn damage(&mut self) {
        let mut operations = self.finding.operations.clone();
        operations.sort_unstable();
        operations.dedup();
        for id in operations {
            self.deed(id);
        }
    }

    /// A try that was refused for nothing: who had the lock last, and the try itself.
    pub(crate) fn needless(&mut self, interval: Interval) {
        if let Some(last) = last_gone(self.case, self.finding, interval) {
            self.hold(last);
        }
        if let Some(id) = self.finding.operation() {
            self.deed(id);
        }
    }

    /// Tells why nobody gets the lock: who may still have it, what was promised, and who asked.
    pub(crate) fn stuck(&mut self, interval: Interval) {
        self.suspect(interval.end);
        let digest = self.case.digest;
        let phase = digest
            .final_phase
            .filter(|phase| phase.time == interval.start);
        if let Some(phase) = phase {
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
        if let Some(id) = self.finding.operation() {
            let waiting = digest.operation(id);
            if waiting.outcome == Outcome::Refused || waiting.is_told_no {
                self.deed(id);
            } else {
                let owner = text::name(digest.owner(waiting.owner));
                let answer = if waiting.is_grant() {
                    "was granted it too late"
                } else {
                    "never had an answer"
                };
                let text = format!("{owner} asked for {} and {answer}", self.lock);
                self.push(waiting.invoked, owner, StepKind::Refuse, text, id);
            }
        }
    }

    /// The hold that may have lasted until `end`, the likeliest first: one that has no end.
    fn suspect(&mut self, end: Nanos) {
        let lasts = |hold: &&Hold| {
            let waits = self.finding.operation() == Some(hold.acquire);
            let covers = hold.hull.start < end && hold.possible().end >= end;
            hold.key == self.finding.key && !waits && covers
        };
        let suspects = self.case.holds.iter().filter(lasts);
        let likeliest = |hold: &&Hold| (hold.possible().end, hold.is_granted(), hold.hull.start);
        let Some(hold) = suspects.max_by_key(likeliest) else {
            return;
        };
        if hold.is_granted() {
            self.hold(hold);
            return;
        }
        let owner = self.owner(hold);
        self.drafts.push(Draft {
            time: hold.hull.start,
            text: format!(
                "{owner} asked for {} and had no clear answer: it may have taken it",
                self.lock
            ),
            actor: owner,
            kind: StepKind::Grant,
            certain: false,
            evidence: self.events(hold.acquire),
            change: Change::None,
        });
    }
}

/// The hold of the lock that was the last to be over before an interval.
pub(crate) fn last_gone<'a>(
    case: &'a Case,
    finding: &Finding,
    interval: Interval,
) -> Option<&'a Hold> {
    let gone = |hold: &&Hold| {
        let over = hold.possible().end < interval.start;
        hold.key == finding.key && hold.is_granted() && over
    };
    let before = case.holds.iter().filter(gone);
    before.max_by_key(|hold| hold.possible().end)
}
