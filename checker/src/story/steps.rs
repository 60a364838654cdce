//! The numbered steps, from whatever was gathered.

use super::teller::{Change, Draft, Teller};
use crate::text;
use crate::verdict::{Step, StepKind};

impl Step {
    /// The step as one line of text: number, time, sentence.
    pub fn line(&self) -> String {
        format!("{:>2}  {}  {}", self.n, text::instant(self.t), self.text)
    }
}

impl Teller<'_> {
    /// Numbers the steps in order of time, and closes with the contradiction.
    pub(super) fn tell(mut self, claim: String) -> Vec<Step> {
        // Events that tie keep the order in which they were recorded.
        self.drafts
            .sort_by_key(|draft| (draft.time, draft.evidence.last().copied()));
        let mut evidence: Vec<u64> = self
            .drafts
            .iter()
            .filter(|draft| is_proof(draft.kind) && draft.certain)
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

/// Whether a step of this kind may prove what the story leads to; others only explain it.
const fn is_proof(kind: StepKind) -> bool {
    match kind {
        StepKind::Fault
        | StepKind::Route
        | StepKind::Role
        | StepKind::Trace
        | StepKind::Contradiction => false,
        StepKind::Grant
        | StepKind::Refuse
        | StepKind::Renew
        | StepKind::Expire
        | StepKind::Command
        | StepKind::Release => true,
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
