//! Gathers the steps of a story.

use std::collections::BTreeSet;

use crate::case::{Case, Finding};
use crate::history::{Givers, Nanos};
use crate::holds::Hold;
use crate::operations::OpId;
use crate::text;
use crate::verdict::StepKind;

/// A step before it is numbered.
pub(super) struct Draft {
    pub(super) time: Nanos,
    pub(super) actor: String,
    pub(super) kind: StepKind,
    pub(super) text: String,
    pub(super) certain: bool,
    pub(super) evidence: Vec<u64>,
    pub(super) change: Change,
}

/// Change that a step makes to who holds the lock, as the clients could know.
#[derive(Clone, Copy)]
pub(super) enum Change {
    None,
    Gains,
    Loses,
}

/// Gathers the steps of one story.
pub(crate) struct Teller<'a> {
    pub(super) case: &'a Case<'a>,
    pub(super) finding: &'a Finding,
    pub(super) lock: String,
    /// The time of the contradiction; what came later explains nothing.
    pub(super) until: Nanos,
    pub(super) drafts: Vec<Draft>,
}

impl<'a> Teller<'a> {
    /// Begins the story of a finding, whose contradiction is plain at `until`.
    pub(crate) fn new(case: &'a Case<'a>, finding: &'a Finding, until: Nanos) -> Self {
        Self {
            case,
            finding,
            lock: text::lock(case.digest.key(finding.key)),
            until,
            drafts: Vec::new(),
        }
    }

    /// The servers that granted the lock in this story, as far as replies name them.
    pub(super) fn givers(&self) -> BTreeSet<&'a str> {
        let case = self.case;
        let held = self.finding.holds.iter().map(|&at| case.holds[at].acquire);
        let all = held.chain(self.finding.operations.iter().copied());
        let givers = all.filter_map(|id| case.digest.givers(case.digest.operation(id)));
        givers.flat_map(Givers::nodes).map(|node| &**node).collect()
    }
}

impl Teller<'_> {
    /// Returns the finding that the story is about.
    pub(crate) fn finding(&self) -> &Finding {
        self.finding
    }

    pub(super) fn push(
        &mut self,
        time: Nanos,
        actor: String,
        kind: StepKind,
        text: String,
        id: OpId,
    ) {
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
                | StepKind::Command
                | StepKind::Route
                | StepKind::Role
                | StepKind::Trace
                | StepKind::Fault
                | StepKind::Contradiction => Change::None,
            },
        });
    }

    pub(super) fn owner(&self, hold: &Hold) -> String {
        text::name(self.case.digest.owner(hold.owner))
    }

    /// The events of an operation.
    pub(super) fn events(&self, id: OpId) -> Vec<u64> {
        let operation = self.case.digest.operation(id);
        let completion = operation.completion.map(|completion| completion.index);
        std::iter::once(operation.invoke)
            .chain(completion)
            .collect()
    }
}
