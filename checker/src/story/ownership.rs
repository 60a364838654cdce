//! The steps of a release by somebody who is not the owner.

use super::teller::Teller;
use crate::holds::Hold;
use crate::text;
use crate::verdict::StepKind;

impl Teller<'_> {
    /// Tells of the last hold that the caller had of the lock, of its release, and of how the owner
    /// came to know of it.
    pub(crate) fn foreign(&mut self) {
        let (case, finding) = (self.case, self.finding);
        let Some((id, release)) = finding
            .operation()
            .map(|id| (id, case.digest.operation(id)))
        else {
            return;
        };
        let before = |hold: &&Hold| {
            let own = (hold.key, hold.owner) == (release.key, release.owner);
            own && hold.is_granted() && hold.core.start <= release.invoked
        };
        let last = case.holds.iter().filter(before);
        if let Some(hold) = last.max_by_key(|hold| hold.core.start) {
            self.hold(hold);
        }
        let owner = text::name(case.digest.owner(release.owner));
        let text = format!("{owner} released {}, and was told that it did", self.lock);
        let answered = release.answered().unwrap_or(release.invoked);
        self.push(answered, owner, StepKind::Release, text, id);
        for &id in &finding.operations[1..] {
            self.deed(id);
        }
    }
}
