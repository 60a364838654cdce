//! The steps of a token that stayed behind.

use super::teller::{Change, Draft, Teller};
use crate::case::sight;
use crate::history::Until;
use crate::text;
use crate::verdict::StepKind;

impl Teller<'_> {
    /// Tells what the owner did last, what a server was seen to have after it, and who was kept
    /// out.
    pub(crate) fn leftover(&mut self) {
        let (case, finding) = (self.case, self.finding);
        for &id in &finding.operations {
            self.deed(id);
        }
        let Some((view, node)) = sight(case, finding) else {
            return;
        };
        let owner = finding
            .operation()
            .map(|id| case.digest.operation(id).owner);
        let owner = owner.map_or_else(String::new, |owner| text::name(case.digest.owner(owner)));
        let left = match (node.left_ms, node.until) {
            (Some(left), _) => {
                let left = crate::Nanos::from_millis(left);
                format!("for another {}", text::length(left))
            }
            (None, Some(Until::SessionEnd)) => "until its session ends".to_owned(),
            (None, None) => "without an expiry".to_owned(),
        };
        let name = text::name(&node.node);
        self.drafts.push(Draft {
            time: view.time,
            text: format!("{name} was asked, and has the token of {owner} {left}"),
            actor: name,
            kind: StepKind::Trace,
            certain: true,
            evidence: vec![view.event],
            change: Change::None,
        });
    }
}
