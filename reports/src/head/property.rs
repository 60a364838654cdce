//! One property in a line: what was found of it, and whether that was expected.

use lockstorm_checker::Verdict;

use super::{against, claims_nothing, of_property};
use crate::model::{ExpectationResult, RunRecord};
use crate::words;

/// The verdict of one property: of a run that stopped early, what was found until then.
pub(crate) fn verdict(run: &RunRecord, result: &ExpectationResult) -> String {
    let found = words::verdict(result.actual);
    if is_cut_short(run, result) {
        format!("{found} before the run stopped early")
    } else {
        found.to_owned()
    }
}

fn is_cut_short(run: &RunRecord, result: &ExpectationResult) -> bool {
    run.stopped.is_some() && result.actual == Verdict::Valid
}

/// One property: what was found of it, and whether that was expected.
pub(crate) fn expectation(run: &RunRecord, result: &ExpectationResult) -> String {
    let name = words::property(result.property);
    let found = verdict(run, result);
    if is_cut_short(run, result) || claims_nothing(run) {
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
