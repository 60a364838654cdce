//! The steps of a queue: who stood in it, and since when.

use super::teller::{Change, Draft, Teller};
use crate::text;
use crate::verdict::StepKind;

impl Teller<'_> {
    /// The doorway of the first acquire of the finding.
    pub(crate) fn doorway(&mut self) {
        let Some(id) = self.finding.operation() else {
            return;
        };
        let digest = self.case.digest;
        let notes = digest.queued.iter().filter(|note| note.acquire == Some(id));
        let Some(note) = notes.max_by_key(|note| note.time) else {
            return;
        };
        let waiting = digest.operation(id);
        let owner = text::name(digest.owner(waiting.owner));
        for (time, text, event) in [
            (
                waiting.invoked,
                format!("{owner} asked for {}", self.lock),
                waiting.invoke,
            ),
            (
                note.time,
                format!("{owner} had its place in the queue of {}", self.lock),
                note.event,
            ),
        ] {
            self.drafts.push(Draft {
                time,
                actor: owner.clone(),
                kind: StepKind::Command,
                text,
                certain: true,
                evidence: vec![event],
                change: Change::None,
            });
        }
    }
}
