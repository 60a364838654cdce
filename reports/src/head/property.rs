//! One property in a line: what was found of it, and whether that was expected.

use lockstorm_checker::Verdict;

use super::{against, claims_nothing, of_property};
use crate::model::{ExpectationResult, RunRecord};
use crate::words;

/// One property: what was found of it, and whether that was expected.
pub(crate) fn expectation(run: &RunRecord, result: &ExpectationResult) -> String {
    let name = words::property(result.property);
    let found = words::verdict(result.actual);
    if run.stopped.is_some() && result.actual == Verdict::Valid {
        format!("{name}: {found} before the run stopped early")
    } else if claims_nothing(run) {
        format!("{name}: {found}")
    } else {
        format!("{name}: {found}{}", against(result))
    }
}

/// Says what there is to say of a property that did not answer as expected: the claim, the reason,
/// or that nothing came.
pub(crate) fn complaint(run: &RunRecord, result: &ExpectationResult) -> String {
    let judged = run.analysis.properties.get(&result.property);
    let told = match result.actual {
        Verdict::Violated => judged
            .and_then(|judgement| judgement.witnesses.first())
            .map(|witness| witness.claim.clone()),
        Verdict::Unknown => judged.and_then(|judgement| judgement.reason.clone()),
        Verdict::Valid => None,
    };
    match told {
        Some(told) => format!("{}: {told}", of_property(run, result)),
        None => of_property(run, result),
    }
}
