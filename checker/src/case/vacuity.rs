//! Reasons why a history could not have shown a violation: never valid by vacuity.
//!
//! Each rule answers with the reason, one sentence for a reader of the report.

use super::faults;
use crate::history::FaultPhase;
use crate::verdict::{Availability, Coverage, FaultSummary};
use lockstorm_linearizability::ModelName;

const NO_ANSWER: &str =
    "each acquire or renewal that was under way while a fault was active had no clear answer";

/// Contents of a history as a whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run<'a> {
    pub(crate) coverage: &'a Coverage,
    pub(crate) faults: &'a [FaultSummary],
    pub(crate) availability: Availability,
    /// The model that it is judged by, if any.
    pub(crate) model: Option<ModelName>,
    /// `true` if an acquire is known to have been granted.
    pub(crate) is_granted: bool,
    /// `true` if there was an acquire or a renewal under way while a fault was active, and none of
    /// these got an answer.
    pub(crate) is_unanswered: bool,
}

/// Returns the reason why no two holders could have been seen at once, if there is one.
pub(crate) fn of_exclusion(run: &Run) -> Option<String> {
    let coverage = run.coverage;
    if coverage.events == 0 {
        return Some("the history holds no event".to_owned());
    }
    if !run.is_granted {
        return Some("no acquire is known to have been granted".to_owned());
    }
    if coverage.contended == 0 {
        return Some("no acquire was tried while another owner held the lock".to_owned());
    }
    of_faults(run)
}

/// Returns the reason why the faults of the run have not put the lock to the test, if there is one.
pub(crate) fn of_faults(run: &Run) -> Option<String> {
    if let Some(reason) = run.faults.iter().find_map(unobserved) {
        return Some(reason);
    }
    if !run.faults.is_empty() && run.coverage.granted_under_fault == 0 {
        return Some("no lock was held while a fault was active".to_owned());
    }
    None
}

/// Returns the reason why the faults of the run have put neither a hold nor a call to the test, if
/// there is one.
pub(crate) fn of_calls(run: &Run) -> Option<String> {
    let is_met = run.faults.iter().any(|fault| fault.operations > 0);
    let unseen = run.faults.iter().find_map(unobserved);
    unseen.or_else(|| of_faults(run).filter(|_| !is_met))
}

/// Returns the reason why the faults of the run have put no answer to an acquire or a renewal to
/// the test, if there is one.
pub(crate) fn of_answers(run: &Run) -> Option<String> {
    of_calls(run).or_else(|| run.is_unanswered.then(|| NO_ANSWER.to_owned()))
}

fn unobserved(fault: &FaultSummary) -> Option<String> {
    if fault.at(FaultPhase::Observed).is_some() {
        return None;
    }
    let done = match fault.at(FaultPhase::Injected) {
        Some(_) => "was injected, but its effect was never observed",
        None => "was asked for, but never injected",
    };
    Some(format!("fault {} {done}", faults::title(fault)))
}
