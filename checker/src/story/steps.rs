//! The numbered steps, from whatever was gathered.

use std::collections::BTreeSet;

use super::teller::{Change, Draft, Teller};
use crate::history::Nanos;
use crate::operations::{Interval, Item};
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
        let mut holders = Holders {
            told: Vec::new(),
            others: self.others(),
        };
        (1..)
            .zip(self.drafts)
            .map(|(n, draft)| step(n, draft, &mut holders))
            .collect()
    }

    /// Clients that took themselves for the holder of this lock, inside the lease, by a grant that
    /// no step tells of; each with the time, in the order of the grants.
    fn others(&self) -> Vec<(Interval, String)> {
        let gains = |draft: &&Draft| matches!(draft.change, Change::Gains);
        let told = self.drafts.iter().filter(gains);
        let told: BTreeSet<(Nanos, &str)> = told.map(|draft| (draft.time, &*draft.actor)).collect();
        let begin = self.drafts.first().map_or(self.until, |draft| draft.time);
        let holds = self.case.holds.iter();
        let mut others: Vec<(Interval, String)> = holds
            .filter(|hold| hold.key == self.finding.key && hold.is_granted())
            .filter(|hold| hold.is_good_on_arrival(self.case.digest))
            .map(|hold| {
                let belief = hold.belief();
                let end = belief.end.min(hold.lease.ceiling);
                (hold, Interval::new(belief.start, end))
            })
            .filter(|(_, time)| begin < time.end && time.start <= self.until)
            .map(|(hold, time)| (time, self.owner(hold)))
            .filter(|(time, owner)| !told.contains(&(time.start, owner)))
            .collect();
        others.sort_by_key(|(time, _)| time.start);
        others
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

/// Clients that hold the lock while a story goes on, as the clients could know.
struct Holders {
    /// Those whose grants are told, as far as the story has come.
    told: Vec<String>,
    /// All others, each with the time in which it did.
    others: Vec<(Interval, String)>,
}

impl Holders {
    fn at(&self, time: Nanos) -> String {
        let others = self.others.iter();
        let others = others.filter(|(held, _)| held.start <= time && time < held.end);
        let mut all = self.told.clone();
        for (_, owner) in others {
            if !all.contains(owner) {
                all.push(owner.clone());
            }
        }
        held_by(&all)
    }
}

fn step(n: u32, draft: Draft, holders: &mut Holders) -> Step {
    let before = holders.at(draft.time);
    match draft.change {
        Change::None => {}
        Change::Gains => holders.told.push(draft.actor.clone()),
        Change::Loses => holders.told.retain(|holder| *holder != draft.actor),
    }
    let after = holders.at(draft.time);
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
