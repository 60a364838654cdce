//! The steps of a lock that its owner entered more than once.

use super::teller::{Change, Draft, Teller};
use crate::holds::Hold;
use crate::operations::{Action, OpId, Outcome};
use crate::text;
use crate::verdict::{Property, StepKind};

/// Grants and releases told of one owner, the last ones: more than a reader follows at once.
const STEPS_MAX: usize = 40;

impl Teller<'_> {
    /// Further grants to the owner of a hold that a partial release kept open, and that release.
    pub(super) fn reentries(&mut self, hold: &Hold) {
        // The story of a miscount tells them all by itself.
        let Some(partial) = hold
            .partial
            .filter(|_| self.finding.property != Property::Reentrancy)
        else {
            return;
        };
        let digest = self.case.digest;
        let mut grants = self.case.operations_of_hold(hold);
        grants.retain(|&id| {
            let grant = digest.operation(id);
            id != hold.acquire && grant.is_grant() && self.case.is_of_mode(grant, hold)
        });
        let releases = OpId::each(&digest.operations).skip(partial.position());
        let own = releases.take_while(|&(id, _)| hold.release.is_none_or(|last| id < last));
        // What came after its end is of a later hold.
        let until = self.until;
        let inside = |id: OpId| {
            let sent = digest.operation(id).invoked;
            sent < hold.core.end && sent <= until
        };
        let partials = own.filter(|(_, operation)| {
            let own = (operation.key, operation.owner) == (hold.key, hold.owner);
            let same = own && self.case.is_of_mode(operation, hold);
            let done = matches!(operation.outcome, Outcome::Ok | Outcome::Unknown);
            same && done && operation.action == Action::Release
        });
        let mut steps = grants;
        steps.extend(partials.map(|(id, _)| id));
        for id in steps {
            if inside(id) && !self.finding.operations.contains(&id) {
                self.deed(id);
            }
        }
    }

    /// Tells what shows that the grants were miscounted.
    pub(crate) fn miscounted(&mut self) {
        let (case, finding) = (self.case, self.finding);
        let Some(&last) = finding.operations.last() else {
            return;
        };
        let shown = case.digest.operation(last);
        // What was to be counted: all that the owner did since it was first granted the lock.
        let own = finding.holds.iter().map(|&at| &case.holds[at]);
        let own = own
            .filter(|hold| hold.owner == shown.owner)
            .min_by_key(|hold| hold.acquire);
        let first = own.map_or(last, |hold| hold.acquire);
        let told = |id: OpId| {
            let released = own.and_then(|hold| hold.release) == Some(id);
            own.is_some() && id == first || released && finding.operation() != Some(id)
        };
        let mut steps: Vec<OpId> = (first.position()..=last.position()).map(OpId::at).collect();
        steps.retain(|&id| {
            let operation = case.digest.operation(id);
            let same = (operation.key, operation.owner) == (shown.key, shown.owner);
            let counts = matches!(operation.action, Action::Acquire | Action::Release);
            same && counts && operation.outcome != Outcome::Failed && !told(id)
        });
        let late = steps.len().saturating_sub(STEPS_MAX);
        for id in steps.drain(late..) {
            self.deed(id);
        }
        if finding.operations.len() == 1 && finding.holds.len() > 1 {
            let owner = text::name(case.digest.owner(shown.owner));
            self.drafts.push(Draft {
                time: shown.answered().unwrap_or(shown.invoked),
                text: format!(
                    "{owner} still holds {}: it was a partial release",
                    self.lock
                ),
                actor: owner,
                kind: StepKind::Release,
                certain: false,
                evidence: self.events(last),
                change: Change::None,
            });
        }
    }
}
