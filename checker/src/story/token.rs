//! The steps of fencing tokens: who got them, and who showed them.

use super::teller::Teller;
use crate::operations::Action;

impl Teller<'_> {
    /// The grants and effects of the finding that its holds do not tell, and for each effect the
    /// hold that its token is from.
    pub(crate) fn tokens(&mut self) {
        let (finding, case) = (self.finding, self.case);
        let holds = || finding.holds.iter().map(|&at| &case.holds[at]);
        for &id in &finding.operations {
            let shown = case.digest.operation(id);
            if matches!(shown.action, Action::Resource(_))
                && let Some(hold) = case.holds.iter().find(|hold| {
                    let same = (hold.key, hold.owner) == (shown.key, shown.owner);
                    same && hold.is_granted() && hold.token == shown.token
                })
            {
                self.hold(hold);
            }
            if !holds().any(|hold| hold.acquire == id) {
                self.deed(id);
            }
        }
    }
}
