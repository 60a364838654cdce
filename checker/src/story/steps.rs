//! The numbered steps, from whatever was gathered.

use std::collections::BTreeSet;

use super::teller::{Change, Draft, Teller};
use crate::operations::Item;
use crate::text;
use crate::verdict::{Step, StepKind};

impl Step {
    /// The step as one line of text: number, time, sentence.
    pub fn line(&self) -> String {
        format!("{:>2}  {}  {}", self.n, text::instant(self.t), self.text)
    }
}

impl Teller<'_> {
    /// Numbers the steps in order of time, and closes with the contradiction, which cites
    /// `basis`, the events that it rests on.
    pub(crate) fn tell(mut self, claim: String, basis: &[Item]) -> Vec<Step> {
        let mut evidence = self.rest(basis);
        evidence.sort_unstable();
        // Events that tie keep the order in which they were recorded.
        self.drafts
            .sort_by_key(|draft| (draft.time, draft.evidence.last().copied()));
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

    /// The events that the violation rests on. Operations among them that no step tells of get one,
    /// but for those after it, which show only that somebody was still alive.
    fn rest(&mut self, basis: &[Item]) -> Vec<u64> {
        let told = self.drafts.iter().flat_map(|draft| &draft.evidence);
        let told: BTreeSet<u64> = told.copied().collect();
        let mut events = Vec::new();
        for &item in basis {
            match item {
                Item::Operation(id) => {
                    let own = self.events(id);
                    let is_late = self.case.digest.operation(id).invoked > self.until;
                    if !is_late && own.iter().all(|event| !told.contains(event)) {
                        self.deed(id);
                    }
                    events.extend(own);
                }
                Item::Note(event) => events.push(event),
            }
        }
        events
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
