//! The steps of a client that hung or crashed.

use super::deed::asking;
use super::teller::{Change, Draft, Teller};
use crate::case::failure;
use crate::history::FailureKind;
use crate::operations::Action;
use crate::text;
use crate::verdict::StepKind;

impl Teller<'_> {
    /// Tells what the client was asked for, and the last lines that it wrote.
    pub(crate) fn failure(&mut self) {
        let (case, finding) = (self.case, self.finding);
        if let Some(id) = finding.operation() {
            let operation = case.digest.operation(id);
            let owner = text::name(case.digest.owner(operation.owner));
            let what = match operation.action {
                Action::Acquire => "asked for",
                Action::Renew => "asked to renew",
                Action::Release => "asked to release",
                Action::Resource(_) | Action::Other => "made a call on",
            };
            let text = format!("{} {what} {}", asking(operation, &owner), self.lock);
            self.push(operation.invoked, owner, StepKind::Command, text, id);
        }
        let Some(failure) = failure(case, finding) else {
            return;
        };
        if failure.note.last_lines.is_empty() {
            return;
        }
        let who = text::name(&failure.owner);
        let what = match failure.note.kind {
            FailureKind::Hang => "the last that it wrote until then",
            FailureKind::Crash => "its last words",
        };
        let lines: Vec<String> = failure
            .note
            .last_lines
            .iter()
            .map(|line| text::prose(line))
            .collect();
        self.drafts.push(Draft {
            time: failure.time,
            text: format!("{who} failed; {what}: {}", lines.join(" / ")),
            actor: who,
            kind: StepKind::Trace,
            certain: true,
            evidence: vec![failure.event],
            change: Change::None,
        });
    }
}
