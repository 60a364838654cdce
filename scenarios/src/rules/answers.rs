//! Rules on the answers that the steps of a script expect.

use super::findings::Findings;
use crate::draft::Draft;
use crate::model::{Promise, ReleaseReply, Situation, Step};

pub(super) fn judge(draft: &Draft, findings: &mut Findings<'_>) {
    for (n, step) in draft.steps.iter().enumerate() {
        let Some(step) = step else { continue };
        if let Step::Release(release) = step
            && release.unless_refused
            && release.expect != ReleaseReply::Any
        {
            let message = "a release with `unless-refused` may be skipped: it has no answer";
            let help = "leave `expect` out, or leave `unless-refused` out";
            findings.value(&format!("step.{n}.release.expect"), message, help);
        }
        if let Some(situation) = &draft.situation {
            judge_promise((n, step), situation, findings);
        }
    }
}

/// A promise that an answer breaks is one that is tested.
fn judge_promise((n, step): (usize, &Step), situation: &Situation, findings: &mut Findings<'_>) {
    let is_tested = |promise: &Promise| {
        let beside = &situation.tests_of_minority;
        situation.tests.contains(promise) || beside.contains(promise)
    };
    if let Some(promise) = step.breaks().filter(|one| !is_tested(one)) {
        let message = format!("`tests` does not name '{}'", promise.name());
        let help = "name it there, or leave `breaks` out";
        findings.value(&format!("step.{n}.{}.breaks", step.kind()), message, help);
    }
}
