//! The steps of servers that ended leases because their time was over, as they count it.

use super::teller::{Change, Draft, Teller};
use crate::operations::Interval;
use crate::text;
use crate::verdict::StepKind;

/// Counts told of in one story, the last ones.
const COUNTS_MAX: usize = 6;

impl Teller<'_> {
    /// Tells which servers ended leases while the story lasts. They are asked at times only: a
    /// count that was taken later than the story's end may be of a lease that ended in it.
    pub(crate) fn expired(&mut self, scene: Interval) {
        let all = self.case.digest.asides.expired.iter();
        let inside = all.filter(|one| scene.start <= one.time && one.note.since <= self.until);
        let mut drafts: Vec<Draft> = inside
            .map(|one| {
                let (node, leases) = (text::name(&one.note.node), one.note.leases);
                let leases = match leases {
                    1 => "a lease".to_owned(),
                    many => format!("{many} leases"),
                };
                let (since, until) = (text::instant(one.note.since), text::instant(one.time));
                Draft {
                    time: one.time.min(self.until),
                    text: format!(
                        "{node} ended {leases} for being over, by its own count, between {since} \
                         and {until}"
                    ),
                    actor: node,
                    kind: StepKind::Trace,
                    certain: true,
                    evidence: vec![one.event],
                    change: Change::None,
                }
            })
            .collect();
        let early = drafts.len().saturating_sub(COUNTS_MAX);
        self.drafts.extend(drafts.drain(early..));
    }
}
