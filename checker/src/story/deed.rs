//! The step of one operation by itself, whatever it is.

use super::teller::{Change, Draft, Teller};
use crate::history::Mode;
use crate::operations::{Access, Action, OpId, Operation, Outcome};
use crate::text;
use crate::verdict::StepKind;

impl Teller<'_> {
    /// Tells what an operation did, at the time of its answer, or of its invocation where none
    /// came.
    pub(crate) fn deed(&mut self, id: OpId) {
        let operation = self.case.digest.operation(id);
        let owner = text::name(self.case.digest.owner(operation.owner));
        let asks = asking(operation, &owner);
        let text = format!("{asks} {}", self.deed_words(operation));
        self.drafts.push(Draft {
            time: operation
                .answered()
                .unwrap_or(operation.invoked)
                .min(self.until),
            actor: owner,
            kind: kind(operation),
            text,
            certain: operation.outcome != Outcome::Unknown,
            evidence: self.events(id),
            change: Change::None,
        });
    }

    fn deed_words(&self, operation: &Operation) -> String {
        let asked = match operation.action {
            Action::Acquire => format!("asked for {}{}", self.lock, asked_for(operation)),
            Action::Renew => format!("asked to renew {}", self.lock),
            Action::Release => format!("asked to release {}", self.lock),
            Action::Resource(access) => self.access_words(access, operation),
            Action::Other => format!("did something else on {}", self.lock),
        };
        let by = text::by(self.case.digest.givers(operation));
        format!("{asked} {}{by}{}", answer(operation), self.reply(operation))
    }

    fn access_words(&self, access: Access, operation: &Operation) -> String {
        let detail = self.case.digest.detail(operation);
        let resource = detail.and_then(|detail| detail.resource).map_or_else(
            || "the resource".to_owned(),
            |resource| text::name(self.case.digest.resources.shown(resource)),
        );
        let value = detail
            .and_then(|detail| detail.asked)
            .map_or("nothing", |value| self.case.digest.value(value));
        let value = text::prose(value);
        let token = operation.token.map(|token| format!(" with token {token}"));
        let token = token.unwrap_or_default();
        match access {
            Access::Read => format!("read {resource}{token}"),
            Access::Write => format!("wrote {value} to {resource}{token}"),
            Access::Cas => format!("compared and set {resource} by {value}{token}"),
            Access::Append => format!("appended {value} to {resource}{token}"),
        }
    }

    /// Puts into words what a reply carries beyond its outcome.
    fn reply(&self, operation: &Operation) -> String {
        if operation.outcome != Outcome::Ok {
            return String::new();
        }
        let mut all = Vec::new();
        if let (Action::Acquire, Some(token)) = (operation.action, operation.token) {
            all.push(format!("token {token}"));
        }
        if let Some(count) = operation.count {
            all.push(format!("count {count}"));
        }
        let detail = self.case.digest.detail(operation);
        if let Some(value) = detail.and_then(|detail| detail.replied) {
            all.push(text::prose(self.case.digest.value(value)));
        }
        if all.is_empty() {
            String::new()
        } else {
            format!(" ({})", all.join(", "))
        }
    }
}

/// Names the one that asks: the owner, or the harness in its place.
pub(super) fn asking(operation: &Operation, owner: &str) -> String {
    if operation.by_harness {
        format!("the harness, for {owner},")
    } else {
        owner.to_owned()
    }
}

fn kind(operation: &Operation) -> StepKind {
    match (operation.action, operation.outcome) {
        (Action::Acquire, Outcome::Ok) => StepKind::Grant,
        (Action::Acquire, _) => StepKind::Refuse,
        (Action::Renew, _) => StepKind::Renew,
        (Action::Release, _) => StepKind::Release,
        (Action::Resource(_) | Action::Other, _) => StepKind::Command,
    }
}

fn asked_for(operation: &Operation) -> String {
    let permits = match operation.permits {
        1 => String::new(),
        permits => format!(" ({permits} permits)"),
    };
    match operation.mode {
        Mode::Write => permits,
        Mode::Read => format!("{permits} to read"),
    }
}

fn answer(operation: &Operation) -> &'static str {
    match (operation.action, operation.outcome) {
        (Action::Acquire, Outcome::Ok) => "and was granted it",
        (Action::Renew | Action::Release, Outcome::NotOwner) => {
            "and was told that it does not hold it"
        }
        (_, Outcome::Ok) => "and was told that it is done",
        (_, Outcome::Refused | Outcome::NotOwner) => "and was refused",
        (_, Outcome::Failed) => "and failed",
        (_, Outcome::Unknown) if operation.is_told_no => "and was told no, nobody knows why",
        (_, Outcome::Unknown) => "and had no clear answer",
    }
}
