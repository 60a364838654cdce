//! The steps of a harness that stood still.

use super::teller::{Change, Draft, Teller};
use crate::operations::Interval;
use crate::text;
use crate::verdict::StepKind;

/// Stalls told of in one story.
const STALLS_MAX: usize = 4;

impl Teller<'_> {
    /// Tells when the harness stood still while the story lasts.
    pub(crate) fn stalls(&mut self, scene: Interval) {
        let stalls = self.case.digest.asides.stalls.iter();
        let inside = stalls.filter(|stall| stall.touches(scene.start, self.until));
        self.drafts.extend(inside.take(STALLS_MAX).map(|stall| {
            let (since, until) = stall.interval;
            let (since, length) = (text::instant(since), text::length(until - since));
            Draft {
                time: until,
                text: format!("the harness had stood still for {length}, since {since}"),
                actor: "harness".to_owned(),
                kind: StepKind::Trace,
                certain: true,
                evidence: vec![stall.event],
                change: Change::None,
            }
        }));
    }
}
