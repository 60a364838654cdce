//! Rules on the answers that the steps of a script expect.

use super::findings::Findings;
use crate::draft::Draft;
use crate::model::{Promise, Release, ReleaseReply, Situation, Step};

pub(super) fn judge(draft: &Draft, findings: &mut Findings<'_>) {
    for (n, step) in draft.steps.iter().enumerate() {
        let Some(step) = step else { continue };
        if let Step::Release(release) = step
            && let Some(word) = may_be_skipped(release)
            && release.expect != ReleaseReply::Any
        {
            let message = format!("a release with `{word}` may be skipped: it has no answer");
            let help = format!("leave `expect` out, or leave `{word}` out");
            findings.value(&format!("step.{n}.release.expect"), message, &help);
        }
        if let Some(situation) = &draft.situation {
            judge_promise((n, step), situation, findings);
        }
    }
}

/// The option with which a release may be skipped.
const fn may_be_skipped(release: &Release) -> Option<&'static str> {
    if release.unless_refused {
        Some("unless-refused")
    } else if release.if_held {
        Some("if-held")
    } else {
        None
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
